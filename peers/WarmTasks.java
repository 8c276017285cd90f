import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import moa.options.ClassOption;
import moa.tasks.MainTask;

/** Runs MOA tasks (one per line of stdin) in one virtual machine; prints wall seconds and result of each. */
public final class WarmTasks {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            MainTask task = (MainTask) ClassOption.cliStringToObject(line, MainTask.class, null);
            long start = System.nanoTime();
            Object result = task.doTask();
            double seconds = (System.nanoTime() - start) / 1e9;
            System.out.println("wall seconds," + seconds);
            System.out.println(result);
        }
    }
}
