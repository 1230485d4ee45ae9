package io.holdfast.samples.quarkus;

import io.holdfast.Term;
import io.holdfast.cdi.Leader;
import io.holdfast.cdi.Leaderships;
import io.quarkus.scheduler.Scheduled;
import jakarta.enterprise.context.ApplicationScoped;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Writes the token of its term again and again, on the process that leads. */
@ApplicationScoped
public class Outbox {

    private final Leaderships leaderships;
    private final Path file;

    Outbox(Leaderships leaderships, @ConfigProperty(name = "invoices.folder") Path folder) {
        this.leaderships = leaderships;
        this.file = folder.resolve("sent");
    }

    @Scheduled(every = "1s")
    @Leader("outbox")
    void send() throws IOException {
        Term term = leaderships.term("outbox").orElseThrow();
        term.ensureValid();
        Files.writeString(
                file,
                term.fencingToken() + " " + ProcessHandle.current().pid() + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }
}
