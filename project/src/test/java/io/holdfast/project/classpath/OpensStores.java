package io.holdfast.project.classpath;

import io.holdfast.Lease;
import io.holdfast.LockClient;

/** A user's program: locks something at each store whose URI it gets. It runs on the class path of a case alone. */
public final class OpensStores {

    private OpensStores() {}

    public static void main(String[] uris) throws Exception {
        for (String uri : uris) {
            try (LockClient client = LockClient.connect(uri);
                    Lease lease = client.acquire("class-path")) {
                System.out.println("locked, token " + lease.fencingToken() + ", at " + uri);
            }
        }
        System.exit(0);
    }
}
