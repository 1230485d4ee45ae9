package io.holdfast.samples.quarkus;

import io.holdfast.cdi.Locked;
import io.holdfast.cdi.ScheduledLock;
import io.quarkus.scheduler.Scheduled;
import jakarta.enterprise.context.ApplicationScoped;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** The numbers of a site's invoices have no gap, and each number is given once. */
@ApplicationScoped
public class Invoices {

    private final Path folder;

    Invoices(@ConfigProperty(name = "invoices.folder") Path folder) {
        this.folder = folder;
    }

    /** Returns the next number of a site. */
    @Locked(name = "invoice.number", key = "{site}")
    public int next(String site) throws IOException {
        Path file = folder.resolve("site-" + Integer.parseInt(site));
        int next = Files.exists(file) ? Integer.parseInt(Files.readString(file)) + 1 : 1;
        Files.writeString(file, String.valueOf(next));
        return next;
    }

    /** Writes a line, on one of the processes. */
    @Scheduled(every = "1s")
    @ScheduledLock(name = "report", atLeast = "1h")
    void report() throws IOException {
        Files.writeString(
                folder.resolve("reports"),
                ProcessHandle.current().pid() + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }
}
