import com.yahoo.labs.samoa.instances.Instance;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import moa.classifiers.Classifier;
import moa.core.Utils;
import moa.options.ClassOption;
import moa.streams.ArffFileStream;

/**
 * Tests then trains a learner with weighted rows, which no stream of MOA has, and with a seed, which no task accepts.
 * Arguments: learner, ARFF file, seed. Stdin has one weight per line. Prints one predicted class code per line.
 */
public final class WeightedPredictions {
    public static void main(String[] arguments) throws Exception {
        Classifier learner = (Classifier) ClassOption.cliStringToObject(arguments[0], Classifier.class, null);
        ArffFileStream rows = new ArffFileStream(arguments[1], -1);
        rows.prepareForUse();
        learner.setModelContext(rows.getHeader());
        learner.setRandomSeed(Integer.parseInt(arguments[2]));
        learner.prepareForUse();
        BufferedReader weights = new BufferedReader(new InputStreamReader(System.in));
        PrintWriter predictions = new PrintWriter(System.out);
        while (rows.hasMoreInstances()) {
            Instance row = rows.nextInstance().getData();
            predictions.println(Utils.maxIndex(learner.getVotesForInstance(row)));
            row.setWeight(Double.parseDouble(weights.readLine()));
            learner.trainOnInstance(row);
        }
        predictions.flush();
    }
}
