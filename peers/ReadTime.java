import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import moa.streams.ArffFileStream;

/** Times the reading of an ARFF file. Arguments: file, repeats. Prints the fewest CPU nanoseconds per row. */
public final class ReadTime {
    public static void main(String[] arguments) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        double best = Double.MAX_VALUE;
        for (int repeat = 0; repeat < Integer.parseInt(arguments[1]); repeat++) {
            long start = threads.getCurrentThreadCpuTime();
            ArffFileStream rows = new ArffFileStream(arguments[0], -1);
            rows.prepareForUse();
            long count = 0;
            while (rows.hasMoreInstances()) {
                rows.nextInstance();
                count++;
            }
            best = Math.min(best, (threads.getCurrentThreadCpuTime() - start) / (double) count);
        }
        System.out.println(best);
    }
}
