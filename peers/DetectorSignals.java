import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import moa.classifiers.core.driftdetection.ChangeDetector;
import moa.options.ClassOption;

/**
 * Runs MOA's detectors on values. Each argument is a detector; stdin has one value per line. Prints one line per
 * detector: CPU nanoseconds per value, the best of as many runs as the property "repeats", and one digit per value: 0
 * stable, 1 warning, 2 drift.
 */
public final class DetectorSignals {
    public static void main(String[] arguments) throws Exception {
        double[] values = read();
        for (String detector : arguments) {
            byte[] signals = new byte[values.length];
            double best = Double.MAX_VALUE;
            for (int i = 0; i < Integer.getInteger("repeats", 1); i++) {
                best = Math.min(best, run(detector, values, signals));
            }
            StringBuilder digits = new StringBuilder();
            for (byte signal : signals) {
                digits.append((char) ('0' + signal));
            }
            System.out.println(best + " " + digits);
        }
    }

    private static double[] read() throws Exception {
        List<Double> values = new ArrayList<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            values.add(Double.parseDouble(line));
        }
        return values.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private static double run(String text, double[] values, byte[] signals) throws Exception {
        ChangeDetector detector = (ChangeDetector) ClassOption.cliStringToObject(text, ChangeDetector.class, null);
        detector.resetLearning();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime();
        for (int i = 0; i < values.length; i++) {
            detector.input(values[i]);
            signals[i] = (byte) (detector.getChange() ? 2 : detector.getWarningZone() ? 1 : 0);
        }
        return (threads.getCurrentThreadCpuTime() - start) / (double) values.length;
    }
}
