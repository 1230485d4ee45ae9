package io.holdfast.cli.screen;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.InfoCmp.Capability;
import org.jline.utils.NonBlockingReader;
import org.jspecify.annotations.Nullable;

/**
 * The whole terminal, drawn again and again, with keys as they are pressed. Its former content comes back when the
 * screen is closed, and when a signal ends the process. For one thread.
 */
public final class LiveScreen implements AutoCloseable {

    private static final int ESCAPE = 27;

    /** How long the rest of a key's sequence may take; a person presses Escape alone. */
    private static final long SEQUENCE_MILLIS = 50;

    /** How soon a change of the terminal's size shows. */
    private static final long SLICE_MILLIS = 100;

    private final Terminal terminal;
    private final Attributes before;
    private final Thread atExit = new Thread(this::restore, "holdfast-terminal");
    private final AtomicBoolean restored = new AtomicBoolean();
    private volatile boolean resized;
    private volatile boolean ended;
    private Size size;

    private LiveScreen(Terminal terminal) {
        this.terminal = terminal;
        this.size = terminal.getSize();
        terminal.handle(Terminal.Signal.WINCH, signal -> resized = true);
        terminal.handle(Terminal.Signal.INT, signal -> ended = true);
        Runtime.getRuntime().addShutdownHook(atExit);
        this.before = terminal.enterRawMode();
        terminal.puts(Capability.enter_ca_mode);
        terminal.puts(Capability.cursor_invisible);
        terminal.flush();
    }

    /** Takes the terminal of this process. */
    public static LiveScreen open() throws IOException {
        return new LiveScreen(TerminalBuilder.builder()
                .system(true)
                // Asks stty: no native code is needed.
                .providers(TerminalBuilder.PROP_PROVIDER_EXEC)
                .dumb(false)
                .build());
    }

    /** Returns the columns. */
    public int width() {
        return size.getColumns();
    }

    /** Returns the lines. */
    public int height() {
        return size.getRows();
    }

    /** Draws these lines, which must fit, in place of the former ones. */
    public void show(List<String> lines) {
        terminal.puts(Capability.cursor_home);
        for (int i = 0; i < lines.size() && i < height(); i++) {
            terminal.writer().print(lines.get(i));
            terminal.puts(Capability.clr_eol);
            if (i < Math.min(lines.size(), height()) - 1) {
                terminal.writer().print("\r\n");
            }
        }
        terminal.puts(Capability.clr_eos);
        terminal.flush();
    }

    /** Waits for a key; returns null if none was pressed in time, or if the size has changed. */
    public @Nullable Key key(Duration patience) throws IOException {
        NonBlockingReader reader = terminal.reader();
        for (long left = patience.toMillis(); left > 0; left -= SLICE_MILLIS) {
            int read = reader.read(Math.min(left, SLICE_MILLIS));
            if (ended || read == NonBlockingReader.EOF) {
                return Key.of(Key.Kind.END);
            }
            if (read >= 0) {
                return key(read, reader);
            }
            if (resized) {
                resized = false;
                size = terminal.getSize();
                return null;
            }
        }
        return null;
    }

    private static @Nullable Key key(int read, NonBlockingReader reader) throws IOException {
        return switch (read) {
            case '\r', '\n' -> Key.of(Key.Kind.ENTER);
            case '\b', 127 -> Key.of(Key.Kind.BACKSPACE);
            case ESCAPE -> sequence(reader);
            default -> read < ' ' ? null : Key.of((char) read);
        };
    }

    private static @Nullable Key sequence(NonBlockingReader reader) throws IOException {
        int next = reader.read(SEQUENCE_MILLIS);
        if (next != '[' && next != 'O') {
            return Key.of(Key.Kind.ESCAPE);
        }
        return switch (reader.read(SEQUENCE_MILLIS)) {
            case 'A' -> Key.of(Key.Kind.UP);
            case 'B' -> Key.of(Key.Kind.DOWN);
            case '5' -> tilde(reader, Key.Kind.PAGE_UP);
            case '6' -> tilde(reader, Key.Kind.PAGE_DOWN);
            default -> null;
        };
    }

    private static @Nullable Key tilde(NonBlockingReader reader, Key.Kind kind) throws IOException {
        return reader.read(SEQUENCE_MILLIS) == '~' ? Key.of(kind) : null;
    }

    private void restore() {
        if (restored.compareAndSet(false, true)) {
            terminal.puts(Capability.cursor_normal);
            terminal.puts(Capability.exit_ca_mode);
            terminal.flush();
            terminal.setAttributes(before);
        }
    }

    @Override
    public void close() throws IOException {
        restore();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            return; // the process is ending, and the hook runs
        }
        terminal.close();
    }
}
