import com.yahoo.labs.samoa.instances.Attribute;
import com.yahoo.labs.samoa.instances.DenseInstance;
import com.yahoo.labs.samoa.instances.Instance;
import com.yahoo.labs.samoa.instances.Instances;
import com.yahoo.labs.samoa.instances.InstancesHeader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import moa.core.Example;
import moa.core.InstanceExample;
import moa.evaluation.LearningPerformanceEvaluator;
import moa.options.ClassOption;

/**
 * Times an evaluator on the outcomes of two classes. Arguments: evaluator, rows between readings, repeats. Stdin has one
 * byte per row, '0' to '3': twice the true class plus the predicted one. Prints the fewest CPU nanoseconds per row.
 */
public final class EvaluatorTime {
    public static void main(String[] arguments) throws Exception {
        byte[] outcomes = System.in.readAllBytes();
        int every = Integer.parseInt(arguments[1]);
        double best = Double.MAX_VALUE;
        for (int repeat = 0; repeat < Integer.parseInt(arguments[2]); repeat++) {
            best = Math.min(best, run(arguments[0], every, outcomes));
        }
        System.out.println(best);
    }

    @SuppressWarnings("unchecked")
    private static double run(String text, int every, byte[] outcomes) throws Exception {
        LearningPerformanceEvaluator<Example<Instance>> evaluator = (LearningPerformanceEvaluator<Example<Instance>>)
                ClassOption.cliStringToObject(text, LearningPerformanceEvaluator.class, null);
        InstancesHeader header = header();
        InstanceExample[] examples = {example(header, 0), example(header, 1)};
        double[][] votes = {{1.0, 0.0}, {0.0, 1.0}};
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime();
        for (int row = 0; row < outcomes.length; row++) {
            int outcome = outcomes[row] - '0';
            evaluator.addResult(examples[outcome >> 1], votes[outcome & 1]);
            if ((row + 1) % every == 0) {
                evaluator.getPerformanceMeasurements();
            }
        }
        return (threads.getCurrentThreadCpuTime() - start) / (double) outcomes.length;
    }

    private static InstancesHeader header() {
        List<Attribute> attributes =
                List.of(new Attribute("x"), new Attribute("class", List.of("class0", "class1")));
        InstancesHeader header = new InstancesHeader(new Instances("rows", attributes, 0));
        header.setClassIndex(1);
        return header;
    }

    private static InstanceExample example(InstancesHeader header, int code) {
        Instance instance = new DenseInstance(2);
        instance.setDataset(header);
        instance.setClassValue(code);
        return new InstanceExample(instance);
    }
}
