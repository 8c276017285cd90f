import com.yahoo.labs.samoa.instances.Attribute;
import com.yahoo.labs.samoa.instances.DenseInstance;
import com.yahoo.labs.samoa.instances.Instance;
import com.yahoo.labs.samoa.instances.Instances;
import com.yahoo.labs.samoa.instances.InstancesHeader;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import moa.core.Example;
import moa.core.InstanceExample;
import moa.core.Measurement;
import moa.evaluation.LearningPerformanceEvaluator;
import moa.options.ClassOption;

/**
 * Runs evaluators on given predictions. Arguments: number of classes, rows between readings, evaluators. Stdin has one
 * row per line: true class, predicted class (-1 for no votes), weight. Prints one line per reading, evaluator and
 * measurement: row, index of the evaluator, value, name.
 */
public final class Evaluations {
    public static void main(String[] arguments) throws Exception {
        int numClasses = Integer.parseInt(arguments[0]);
        int every = Integer.parseInt(arguments[1]);
        InstancesHeader header = header(numClasses);
        List<LearningPerformanceEvaluator<Example<Instance>>> evaluators = evaluators(arguments);
        BufferedReader rows = new BufferedReader(new InputStreamReader(System.in));
        String line;
        for (int row = 1; (line = rows.readLine()) != null; row++) {
            String[] parts = line.split(" ");
            Instance instance = new DenseInstance(2);
            instance.setDataset(header);
            instance.setClassValue(Integer.parseInt(parts[0]));
            instance.setWeight(Double.parseDouble(parts[2]));
            int predicted = Integer.parseInt(parts[1]);
            double[] votes = new double[predicted < 0 ? 0 : numClasses];
            if (predicted >= 0) {
                votes[predicted] = 1.0;
            }
            for (LearningPerformanceEvaluator<Example<Instance>> evaluator : evaluators) {
                evaluator.addResult(new InstanceExample(instance), votes);
            }
            if (row % every == 0) {
                print(row, evaluators);
            }
        }
    }

    private static InstancesHeader header(int numClasses) {
        List<String> classes = new ArrayList<>();
        for (int code = 0; code < numClasses; code++) {
            classes.add("class" + code);
        }
        List<Attribute> attributes = new ArrayList<>();
        attributes.add(new Attribute("x"));
        attributes.add(new Attribute("class", classes));
        InstancesHeader header = new InstancesHeader(new Instances("rows", attributes, 0));
        header.setClassIndex(1);
        return header;
    }

    @SuppressWarnings("unchecked")
    private static List<LearningPerformanceEvaluator<Example<Instance>>> evaluators(String[] arguments)
            throws Exception {
        List<LearningPerformanceEvaluator<Example<Instance>>> evaluators = new ArrayList<>();
        for (int place = 2; place < arguments.length; place++) {
            evaluators.add((LearningPerformanceEvaluator<Example<Instance>>)
                    ClassOption.cliStringToObject(arguments[place], LearningPerformanceEvaluator.class, null));
        }
        return evaluators;
    }

    private static void print(int row, List<LearningPerformanceEvaluator<Example<Instance>>> evaluators) {
        for (int place = 0; place < evaluators.size(); place++) {
            for (Measurement one : evaluators.get(place).getPerformanceMeasurements()) {
                System.out.println(row + " " + place + " " + one.getValue() + " " + one.getName());
            }
        }
    }
}
