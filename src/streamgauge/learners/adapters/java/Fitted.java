package streamgauge;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import weka.classifiers.Classifier;
import weka.core.Attribute;
import weka.core.DenseInstance;
import weka.core.Instances;

/** A classifier of WEKA that is built on all its rows at once. The class of a row is missing while it is predicted. */
public final class Fitted {
    /** Classes that a saved classifier may contain; others are not loaded. */
    private static final ObjectInputFilter PARTS =
            ObjectInputFilter.Config.createFilter("weka.**;no.uib.**;java.base/*;!*");

    private final Instances header;
    private final int nAttributes;
    private final int nClasses;
    private Classifier classifier;

    /** Creates a model without rows; the values of a numeric attribute are null. */
    public Fitted(String[] names, String[][] values, String[] classes) {
        ArrayList<Attribute> attributes = new ArrayList<>();
        for (int i = 0; i < names.length; i++) {
            attributes.add(values[i] == null ? new Attribute(names[i]) : nominal(names[i], values[i]));
        }
        attributes.add(nominal("streamgauge class", classes));
        this.header = new Instances("rows", attributes, 0);
        this.header.setClassIndex(names.length);
        this.nAttributes = names.length;
        this.nClasses = classes.length;
    }

    private static Attribute nominal(String name, String[] values) {
        return new Attribute(name, new ArrayList<>(Arrays.asList(values)));
    }

    /**
     * Builds a classifier on rows and keeps it.
     *
     * @param built the classifier, which has not been built before
     * @param x the rows, one after the other
     * @param labels the classes
     * @param weights the weights; null for weights of 1
     */
    public void fit(Classifier built, double[] x, int[] labels, double[] weights) throws Exception {
        Instances rows = new Instances(header, labels.length);
        for (int i = 0; i < labels.length; i++) {
            rows.add(row(x, i, weights == null ? 1.0 : weights[i], labels[i]));
        }
        built.buildClassifier(rows);
        classifier = built;
    }

    /** Returns the votes of rows for the classes, one row after the other. */
    public double[] votes(double[] x, int n) throws Exception {
        double[] votes = new double[n * nClasses];
        for (int i = 0; i < n; i++) {
            DenseInstance row = row(x, i, 1.0, Double.NaN);
            row.setDataset(header);
            System.arraycopy(classifier.distributionForInstance(row), 0, votes, i * nClasses, nClasses);
        }
        return votes;
    }

    private DenseInstance row(double[] x, int i, double weight, double label) {
        double[] values = new double[nAttributes + 1];
        System.arraycopy(x, i * nAttributes, values, 0, nAttributes);
        values[nAttributes] = label;
        return new DenseInstance(weight, values);
    }

    /** Returns the serialised classifier. */
    public byte[] save() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream objects = new ObjectOutputStream(bytes)) {
            objects.writeObject(classifier);
        }
        return bytes.toByteArray();
    }

    /** Restores a serialised classifier. */
    public void load(byte[] state) throws IOException, ClassNotFoundException {
        try (ObjectInputStream objects = new ObjectInputStream(new ByteArrayInputStream(state))) {
            objects.setObjectInputFilter(PARTS);
            classifier = (Classifier) objects.readObject();
        }
    }
}
