import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

import org.apache.jena.atlas.json.JSON;
import org.apache.jena.atlas.json.JsonObject;
import org.apache.jena.query.Dataset;
import org.apache.jena.query.QueryExecution;
import org.apache.jena.query.QueryFactory;
import org.apache.jena.query.ReadWrite;
import org.apache.jena.query.ResultSetFormatter;
import org.apache.jena.tdb2.TDB2Factory;

/** Apache Jena's TDB2: lines of {"query": ...} give {"count": rows} once the answer is written as tab-separated values. */
public class JenaWorker {
    /** Counts lines; in this format each row is one. */
    static class Lines extends OutputStream {
        long lines;

        @Override
        public void write(int value) {
            if (value == '\n') lines++;
        }

        @Override
        public void write(byte[] bytes, int from, int length) {
            for (int at = from; at < from + length; at++) if (bytes[at] == '\n') lines++;
        }
    }

    static String ask(Dataset dataset, String text) {
        try (QueryExecution execution = QueryExecution.create(QueryFactory.create(text), dataset)) {
            if (execution.getQuery().isAskType()) return "{\"count\": \"" + execution.execAsk() + "\"}";
            Lines lines = new Lines();
            ResultSetFormatter.outputAsTSV(lines, execution.execSelect());
            return "{\"count\": " + Math.max(0, lines.lines - 1) + "}";
        } catch (RuntimeException error) {
            JsonObject failure = new JsonObject();
            failure.put("error", String.valueOf(error.getMessage()));
            return failure.toString().replace('\n', ' ');
        }
    }

    public static void main(String[] arguments) throws Exception {
        Dataset dataset = TDB2Factory.connectDataset(arguments[0]);
        dataset.begin(ReadWrite.READ);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("{}");
        for (String line = lines.readLine(); line != null; line = lines.readLine())
            System.out.println(ask(dataset, JSON.parse(line).get("query").getAsString().value()));
    }
}
