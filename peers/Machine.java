import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Runs the main methods of classes one after another. Arguments: a class path. A message on stdin is the number of its
 * texts, then each text after its length: a class, its stdin, its arguments. The answer is the status, then output and
 * errors, each after its length. Each run loads its own classes, since some of MOA's have static state.
 */
public final class Machine {
    public static void main(String[] classPath) throws Exception {
        URL[] urls = new URL[classPath.length];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = Path.of(classPath[i]).toUri().toURL();
        }
        DataInputStream messages = new DataInputStream(System.in);
        DataOutputStream answers = new DataOutputStream(System.out);
        while (true) {
            String[] texts = read(messages);
            if (texts == null) {
                return;
            }
            ByteArrayOutputStream output = new ByteArrayOutputStream();
            ByteArrayOutputStream errors = new ByteArrayOutputStream();
            answers.writeInt(run(urls, texts, output, errors));
            for (ByteArrayOutputStream each : new ByteArrayOutputStream[] {output, errors}) {
                answers.writeInt(each.size());
                each.writeTo(answers);
            }
            answers.flush();
        }
    }

    private static String[] read(DataInputStream messages) throws IOException {
        int n;
        try {
            n = messages.readInt();
        } catch (EOFException ended) {
            return null;
        }
        String[] texts = new String[n];
        for (int i = 0; i < n; i++) {
            texts[i] = new String(messages.readNBytes(messages.readInt()), StandardCharsets.UTF_8);
        }
        return texts;
    }

    private static int run(URL[] urls, String[] texts, ByteArrayOutputStream output, ByteArrayOutputStream errors)
            throws Exception {
        String[] arguments = new String[texts.length - 2];
        System.arraycopy(texts, 2, arguments, 0, arguments.length);
        PrintStream out = new PrintStream(output, true, StandardCharsets.UTF_8);
        PrintStream err = new PrintStream(errors, true, StandardCharsets.UTF_8);
        System.setIn(new ByteArrayInputStream(texts[1].getBytes(StandardCharsets.UTF_8)));
        System.setOut(out);
        System.setErr(err);
        try (URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
            Thread.currentThread().setContextClassLoader(loader);
            loader.loadClass(texts[0]).getMethod("main", String[].class).invoke(null, (Object) arguments);
            return 0;
        } catch (InvocationTargetException error) {
            error.getCause().printStackTrace(err);
            return 1;
        } finally {
            out.flush();
            err.flush();
        }
    }
}
