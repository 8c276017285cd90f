import com.yahoo.labs.samoa.instances.Instance;
import java.lang.reflect.Field;
import java.util.Random;
import moa.classifiers.trees.HoeffdingAdaptiveTree;
import moa.classifiers.trees.HoeffdingTree;
import moa.core.Utils;
import moa.streams.ArffFileStream;

/**
 * Tests then trains MOA's Hoeffding adaptive tree, whose leaves learn every row once: their random numbers, which decide
 * how often, are replaced by a constant. Arguments: ARFF file. Prints one predicted class code per line.
 */
public final class UnweightedAdaptiveTree {
    /** A generator without chance: a Poisson(1) number drawn from it is 1. */
    private static final class Half extends Random {
        @Override
        public double nextDouble() {
            return 0.5;
        }
    }

    private static Object get(Object object, Class<?> type, String name) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
    }

    private static void replaceRandom(Object node) throws ReflectiveOperationException {
        if (node instanceof HoeffdingAdaptiveTree.AdaSplitNode) {
            HoeffdingAdaptiveTree.AdaSplitNode split = (HoeffdingAdaptiveTree.AdaSplitNode) node;
            for (int i = 0; i < split.numChildren(); i++) {
                replaceRandom(split.getChild(i));
            }
            replaceRandom(get(split, HoeffdingAdaptiveTree.AdaSplitNode.class, "alternateTree"));
        } else if (node != null) {
            Field random = HoeffdingAdaptiveTree.AdaLearningNode.class.getDeclaredField("classifierRandom");
            random.setAccessible(true);
            random.set(node, new Half());
        }
    }

    public static void main(String[] arguments) throws Exception {
        HoeffdingAdaptiveTree tree = new HoeffdingAdaptiveTree();
        ArffFileStream rows = new ArffFileStream(arguments[0], -1);
        rows.prepareForUse();
        tree.setModelContext(rows.getHeader());
        tree.prepareForUse();
        StringBuilder predictions = new StringBuilder();
        while (rows.hasMoreInstances()) {
            Instance row = rows.nextInstance().getData();
            predictions.append(Utils.maxIndex(tree.getVotesForInstance(row))).append('\n');
            tree.trainOnInstance(row);
            replaceRandom(get(tree, HoeffdingTree.class, "treeRoot"));
        }
        System.out.print(predictions);
    }
}
