package streamgauge;

import com.yahoo.labs.samoa.instances.Attribute;
import com.yahoo.labs.samoa.instances.DenseInstance;
import com.yahoo.labs.samoa.instances.Instance;
import com.yahoo.labs.samoa.instances.Instances;
import com.yahoo.labs.samoa.instances.InstancesHeader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import moa.classifiers.Classifier;

/**
 * A learner of MOA with the loop that tests and trains it. It takes a batch of rows per call, so that Python calls Java
 * once per batch. The class of a row is missing while the learner predicts it.
 */
public final class Cell {
    /** Classes that a saved learner may contain; others are not loaded. */
    private static final ObjectInputFilter PARTS = ObjectInputFilter.Config.createFilter(
            "moa.**;com.yahoo.labs.samoa.**;com.github.**;weka.**;org.apache.commons.**;no.uib.**;java.base/*;!*");

    private static final int ABSTAINED = -1;

    private final InstancesHeader header;
    private final int nAttributes;
    private final int nClasses;
    private Classifier learner;
    private int failedAt = -1;
    private String failure;

    /** Creates a cell with a learner that is ready for use; the values of a numeric attribute are null. */
    public Cell(Classifier learner, String[] names, String[][] values, String[] classes) {
        List<Attribute> attributes = new ArrayList<>();
        for (int i = 0; i < names.length; i++) {
            attributes.add(values[i] == null ? new Attribute(names[i]) : nominal(names[i], values[i]));
        }
        attributes.add(nominal("class", classes));
        Instances rows = new Instances("rows", attributes, 0);
        rows.setClassIndex(names.length);
        this.header = new InstancesHeader(rows);
        this.nAttributes = names.length;
        this.nClasses = classes.length;
        this.learner = learner;
        learner.setModelContext(header);
    }

    private static Attribute nominal(String name, String[] values) {
        return new Attribute(name, new ArrayList<>(Arrays.asList(values)));
    }

    /**
     * Predicts each tested row, then learns it. Stops at the first row where the learner fails.
     *
     * @param x the rows, one after the other
     * @param labels the classes; a row with a negative label is not learnt
     * @param tested which rows to predict; null for all
     * @param weights the weights; a row of weight 0 is not learnt; null for weights of 1
     * @param votes filled with the votes of all rows, unless null
     * @param times filled with the nanoseconds of predicting each row, then of learning each row, unless null
     * @return the predicted classes
     */
    public int[] interleave(
            double[] x, int[] labels, boolean[] tested, double[] weights, double[] votes, long[] times) {
        int[] predictions = new int[labels.length];
        double[] rowVotes = new double[nClasses];
        failedAt = -1;
        for (int i = 0; i < labels.length; i++) {
            predictions[i] = ABSTAINED;
            try {
                Instance row = row(x, i);
                if (tested == null || tested[i]) {
                    long start = times == null ? 0 : System.nanoTime();
                    predictions[i] = usable(learner.getVotesForInstance(row), rowVotes);
                    if (times != null) {
                        times[i] = System.nanoTime() - start;
                    }
                    if (votes != null) {
                        System.arraycopy(rowVotes, 0, votes, i * nClasses, nClasses);
                    }
                }
                double weight = weights == null ? 1.0 : weights[i];
                if (labels[i] >= 0 && weight > 0.0) {
                    row.setClassValue(labels[i]);
                    row.setWeight(weight);
                    long start = times == null ? 0 : System.nanoTime();
                    learner.trainOnInstance(row);
                    if (times != null) {
                        times[labels.length + i] = System.nanoTime() - start;
                    }
                }
            } catch (Exception | LinkageError | StackOverflowError error) {
                failedAt = i;
                failure = error.toString();
                break;
            }
        }
        return predictions;
    }

    private Instance row(double[] x, int i) {
        double[] values = new double[nAttributes + 1];
        System.arraycopy(x, i * nAttributes, values, 0, nAttributes);
        values[nAttributes] = Double.NaN;
        Instance row = new DenseInstance(1.0, values);
        row.setDataset(header);
        return row;
    }

    /**
     * Copies votes, of which there may be too few or too many. If any is negative, all are shifted so that the least is
     * 0; votes that are not finite become 0. Returns the class with the most votes, the first of ties.
     */
    private int usable(double[] raw, double[] votes) {
        int n = Math.min(raw.length, nClasses);
        double least = 0.0;
        for (int c = 0; c < n; c++) {
            least = Math.min(least, Double.isFinite(raw[c]) ? raw[c] : 0.0);
        }
        int best = ABSTAINED;
        double most = 0.0;
        for (int c = 0; c < nClasses; c++) {
            votes[c] = c < n && Double.isFinite(raw[c]) ? raw[c] - least : 0.0;
            if (votes[c] > most) {
                most = votes[c];
                best = c;
            }
        }
        return best;
    }

    /** Returns the index of the row at which the last call failed, or -1. */
    public int failedAt() {
        return failedAt;
    }

    /** Returns the error at that row. */
    public String failure() {
        return failure;
    }

    /** Returns the serialised learner. */
    public byte[] save() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream objects = new ObjectOutputStream(bytes)) {
            objects.writeObject(learner);
        }
        return bytes.toByteArray();
    }

    /** Restores a serialised learner. */
    public void load(byte[] state) throws IOException, ClassNotFoundException {
        try (ObjectInputStream objects = new ObjectInputStream(new ByteArrayInputStream(state))) {
            objects.setObjectInputFilter(PARTS);
            learner = (Classifier) objects.readObject();
        }
    }
}
