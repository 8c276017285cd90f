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
 * A learner of MOA with the loop that tests and trains it: rows come a batch at a time, so that the virtual machine is
 * entered once a batch. The class of a row is missing while the learner votes for it.
 */
public final class Cell {
    /** Of what a saved learner may be made; nothing else is loaded. */
    private static final ObjectInputFilter PARTS = ObjectInputFilter.Config.createFilter(
            "moa.**;com.yahoo.labs.samoa.**;com.github.**;weka.**;org.apache.commons.**;no.uib.**;java.base/*;!*");

    private static final int ABSTAINED = -1;

    private final InstancesHeader header;
    private final int nAttributes;
    private final int nClasses;
    private Classifier learner;
    private int failedAt = -1;
    private String failure;

    /** Takes a learner that is ready for use; the values of a numeric attribute are null. */
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
     * Predicts each tested row, then learns it: rows one after the other in x; a label below 0 is not known, a weight of
     * 0 not learnt; null stands for all tested, and for weights of 1. Stops at a row where the learner fails. Where votes
     * are given, they are filled with those of all rows; where taken is given, with the nanoseconds of predicting each
     * row, then those of learning each.
     */
    public int[] interleave(
            double[] x, int[] labels, boolean[] tested, double[] weights, double[] votes, long[] taken) {
        int[] predictions = new int[labels.length];
        double[] ofRow = new double[nClasses];
        failedAt = -1;
        for (int i = 0; i < labels.length; i++) {
            predictions[i] = ABSTAINED;
            try {
                Instance row = row(x, i);
                if (tested == null || tested[i]) {
                    long start = taken == null ? 0 : System.nanoTime();
                    predictions[i] = usable(learner.getVotesForInstance(row), ofRow);
                    if (taken != null) {
                        taken[i] = System.nanoTime() - start;
                    }
                    if (votes != null) {
                        System.arraycopy(ofRow, 0, votes, i * nClasses, nClasses);
                    }
                }
                double weight = weights == null ? 1.0 : weights[i];
                if (labels[i] >= 0 && weight > 0.0) {
                    row.setClassValue(labels[i]);
                    row.setWeight(weight);
                    long start = taken == null ? 0 : System.nanoTime();
                    learner.trainOnInstance(row);
                    if (taken != null) {
                        taken[labels.length + i] = System.nanoTime() - start;
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
     * Copies votes, which may be too few or too many; negative ones are moved up, what is no number is 0. Gives the class
     * with the most, the first of equals.
     */
    private int usable(double[] found, double[] votes) {
        int n = Math.min(found.length, nClasses);
        double least = 0.0;
        for (int c = 0; c < n; c++) {
            least = Math.min(least, Double.isFinite(found[c]) ? found[c] : 0.0);
        }
        int best = ABSTAINED;
        double most = 0.0;
        for (int c = 0; c < nClasses; c++) {
            votes[c] = c < n && Double.isFinite(found[c]) ? found[c] - least : 0.0;
            if (votes[c] > most) {
                most = votes[c];
                best = c;
            }
        }
        return best;
    }

    /** The position of the row where the last call failed, or -1. */
    public int failedAt() {
        return failedAt;
    }

    /** What went wrong there. */
    public String failure() {
        return failure;
    }

    /** The learner with all it has learnt. */
    public byte[] save() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream objects = new ObjectOutputStream(bytes)) {
            objects.writeObject(learner);
        }
        return bytes.toByteArray();
    }

    /** Takes over a saved learner. */
    public void load(byte[] state) throws IOException, ClassNotFoundException {
        try (ObjectInputStream objects = new ObjectInputStream(new ByteArrayInputStream(state))) {
            objects.setObjectInputFilter(PARTS);
            learner = (Classifier) objects.readObject();
        }
    }
}
