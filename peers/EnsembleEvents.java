import com.github.javacliparser.StringOption;
import com.yahoo.labs.samoa.instances.Attribute;
import com.yahoo.labs.samoa.instances.DenseInstance;
import com.yahoo.labs.samoa.instances.Instance;
import com.yahoo.labs.samoa.instances.Instances;
import com.yahoo.labs.samoa.instances.InstancesHeader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import moa.classifiers.AbstractClassifier;
import moa.classifiers.Classifier;
import moa.classifiers.MultiClassClassifier;
import moa.classifiers.core.driftdetection.AbstractChangeDetector;
import moa.classifiers.trees.ARFHoeffdingTree;
import moa.core.Measurement;
import moa.core.ObjectRepository;
import moa.options.ClassOption;
import moa.tasks.TaskMonitor;

/**
 * Shows which members of an ensemble learn a row, and how many values its detectors have seen, if warnings and drifts
 * come at given rows. Arguments: an ensemble, with members of EnsembleEvents$Member or EnsembleEvents$Tree and
 * detectors of EnsembleEvents$Signal; a number of rows. Prints a line per row: each model that learns it, as its number
 * in order of the first row, and each detector with the number of values it has seen.
 */
public final class EnsembleEvents {
    private static int row;
    private static List<String> events = new ArrayList<>();
    private static int nModels;

    private static int learns(int model) {
        int number = model > 0 ? model : ++nModels;
        events.add("model" + number);
        return number;
    }

    /** A learner that always votes for the first class. */
    public static final class Member extends AbstractClassifier implements MultiClassClassifier {
        private int number;

        @Override
        public void resetLearningImpl() {
            number = 0;
        }

        @Override
        public void trainOnInstanceImpl(Instance instance) {
            number = learns(number);
        }

        @Override
        public double[] getVotesForInstance(Instance instance) {
            return new double[] {1.0, 0.0};
        }

        @Override
        public boolean isRandomizable() {
            return false;
        }

        @Override
        public void getModelDescription(StringBuilder out, int indent) {}

        @Override
        protected Measurement[] getModelMeasurementsImpl() {
            return null;
        }
    }

    /** A tree of a forest. */
    public static final class Tree extends ARFHoeffdingTree {
        private int number;

        @Override
        public void resetLearningImpl() {
            super.resetLearningImpl();
            number = 0;
        }

        @Override
        public void trainOnInstanceImpl(Instance instance) {
            number = learns(number);
            super.trainOnInstanceImpl(instance);
        }
    }

    /** A detector that signals a change at given rows, whatever its values are. */
    public static final class Signal extends AbstractChangeDetector {
        public StringOption nameOption = new StringOption("name", 'n', "Name.", "signal");
        public StringOption rowsOption = new StringOption("rows", 'r', "Rows, separated by commas.", "");
        private int nValues;

        @Override
        public void input(double value) {
            nValues++;
            isChangeDetected = Arrays.asList(rowsOption.getValue().split(",")).contains(String.valueOf(row));
            events.add(nameOption.getValue() + nValues);
        }

        @Override
        public void getDescription(StringBuilder out, int indent) {}

        @Override
        protected void prepareForUseImpl(TaskMonitor monitor, ObjectRepository repository) {}
    }

    public static void main(String[] arguments) throws Exception {
        Classifier learner = (Classifier) ClassOption.cliStringToObject(arguments[0], Classifier.class, null);
        List<Attribute> attributes = new ArrayList<>(List.of(new Attribute("a"), new Attribute("b")));
        attributes.add(new Attribute("class", Arrays.asList("x", "y")));
        Instances rows = new Instances("rows", attributes, 0);
        rows.setClassIndex(2);
        InstancesHeader header = new InstancesHeader(rows);
        learner.setModelContext(header);
        learner.prepareForUse();
        for (row = 0; row < Integer.parseInt(arguments[1]); row++) {
            Instance instance = new DenseInstance(1.0, new double[] {row, row, row % 2});
            instance.setDataset(header);
            learner.trainOnInstance(instance);
            System.out.println(String.join(" ", events));
            events = new ArrayList<>();
        }
    }
}
