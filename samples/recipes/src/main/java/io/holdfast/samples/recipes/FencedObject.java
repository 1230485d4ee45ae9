package io.holdfast.samples.recipes;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.function.UnaryOperator;

/** Changes an object of a store with conditional writes, such as S3. The first line of the object is a token. */
final class FencedObject {

    private FencedObject() {}

    /**
     * Changes the text of an object; the text of a missing one is empty.
     *
     * @throws LeaseLostException if the lease is lost, or a later lease has written the object
     */
    static void update(HttpClient http, URI object, Lease lease, UnaryOperator<String> change)
            throws IOException, InterruptedException {
        int status;
        do {
            lease.ensureValid();
            HttpResponse<String> old =
                    http.send(HttpRequest.newBuilder(object).build(), HttpResponse.BodyHandlers.ofString());
            boolean exists = old.statusCode() == 200;
            if (!exists && old.statusCode() != 404) {
                throw new IOException(object + " answered " + old.statusCode());
            }
            String[] parts = exists ? old.body().split("\n", 2) : new String[] {"0", ""};
            if (Long.parseLong(parts[0]) > lease.fencingToken()) {
                throw new LeaseLostException(object + " refused " + lease);
            }
            HttpRequest put = HttpRequest.newBuilder(object)
                    .header(
                            exists ? "If-Match" : "If-None-Match",
                            exists ? old.headers().firstValue("ETag").orElseThrow() : "*")
                    .PUT(HttpRequest.BodyPublishers.ofString(lease.fencingToken() + "\n" + change.apply(parts[1])))
                    .build();
            status = http.send(put, HttpResponse.BodyHandlers.discarding()).statusCode();
        } while (status == 409 || status == 412); // the object changed meanwhile: look at its token again
        if (status != 200) {
            throw new IOException(object + " answered " + status);
        }
    }
}
