import com.yahoo.labs.samoa.instances.Instance;
import java.lang.reflect.Field;
import java.util.Random;
import moa.classifiers.trees.HoeffdingAdaptiveTree;
import moa.classifiers.trees.HoeffdingTree;
import moa.core.Utils;
import moa.streams.ArffFileStream;

/**
 * Tests then trains MOA's Hoeffding adaptive tree with other random numbers, which decide how often a leaf learns a row:
 * in MOA all leaves have a generator of the same seed. Here each leaf has one of its own or, without a seed, learns every
 * row once. Arguments: ARFF file, and a seed. Prints one predicted class code per line.
 */
public final class AdaptiveTreeWeights {
    /** The generator of a leaf. Without chance a Poisson(1) number drawn from it is 1. */
    private static final class LeafRandom extends Random {
        private final boolean hasChance;

        LeafRandom(Random seeds) {
            super(seeds == null ? 0 : seeds.nextLong());
            hasChance = seeds != null;
        }

        @Override
        public double nextDouble() {
            return hasChance ? super.nextDouble() : 0.5;
        }
    }

    private static Object get(Object object, Class<?> type, String name) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
    }

    private static void replaceRandom(Object node, Random seeds) throws ReflectiveOperationException {
        if (node instanceof HoeffdingAdaptiveTree.AdaSplitNode) {
            HoeffdingAdaptiveTree.AdaSplitNode split = (HoeffdingAdaptiveTree.AdaSplitNode) node;
            for (int i = 0; i < split.numChildren(); i++) {
                replaceRandom(split.getChild(i), seeds);
            }
            replaceRandom(get(split, HoeffdingAdaptiveTree.AdaSplitNode.class, "alternateTree"), seeds);
        } else if (node != null) {
            Field random = HoeffdingAdaptiveTree.AdaLearningNode.class.getDeclaredField("classifierRandom");
            random.setAccessible(true);
            if (!(random.get(node) instanceof LeafRandom)) {
                random.set(node, new LeafRandom(seeds));
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Random seeds = arguments.length > 1 ? new Random(Long.parseLong(arguments[1])) : null;
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
            replaceRandom(get(tree, HoeffdingTree.class, "treeRoot"), seeds);
        }
        System.out.print(predictions);
    }
}
