import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import moa.classifiers.core.driftdetection.ADWIN;

/** Times MOA's ADWIN on losses (zeros and ones on stdin). Argument: repeats. Prints best CPU seconds and last width. */
public final class AdwinTime {
    public static void main(String[] arguments) throws Exception {
        byte[] losses = System.in.readAllBytes();
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        long best = Long.MAX_VALUE;
        int width = 0;
        for (int repeat = 0; repeat < Integer.parseInt(arguments[0]); repeat++) {
            ADWIN window = new ADWIN(0.002);
            long start = clock.getCurrentThreadCpuTime();
            for (byte loss : losses) {
                window.setInput(loss == '1' ? 1.0 : 0.0);
            }
            best = Math.min(best, clock.getCurrentThreadCpuTime() - start);
            width = window.getWidth();
        }
        System.out.println(best / 1e9 + " " + width);
    }
}
