import moa.classifiers.Classifier;
import moa.options.ClassOption;
import moa.streams.ExampleStream;

/** Trains a learner and prints the bytes of heap it uses. Arguments: learner, stream, number of rows. */
public final class HeapBytes {
    public static void main(String[] arguments) throws Exception {
        Classifier learner = (Classifier) ClassOption.cliStringToObject(arguments[0], Classifier.class, null);
        ExampleStream<?> stream =
            (ExampleStream<?>) ClassOption.cliStringToObject(arguments[1], ExampleStream.class, null);
        ((moa.options.OptionHandler) stream).prepareForUse();
        learner.setModelContext(stream.getHeader());
        learner.prepareForUse();
        long before = used();
        for (int row = Integer.parseInt(arguments[2]); row > 0; row--) {
            learner.trainOnInstance((com.yahoo.labs.samoa.instances.Instance) stream.nextInstance().getData());
        }
        System.out.println(used() - before);
        // Keeps both alive up to here.
        System.err.print(learner.hashCode() == stream.hashCode() ? " " : "");
    }

    private static long used() throws InterruptedException {
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(50);
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
