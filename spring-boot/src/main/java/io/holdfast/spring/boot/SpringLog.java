package io.holdfast.spring.boot;

import io.holdfast.spi.EngineLog;
import java.text.MessageFormat;
import java.util.ResourceBundle;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Brings the lines of the lock engine into the application's log by Spring's own logging. By the JDK's logging they
 * would be missing after a SIGTERM: it drops its handlers, and with them the bridge, before the context is closed.
 */
final class SpringLog implements System.Logger {

    private static final SpringLog INSTANCE = new SpringLog();

    private final Log log = LogFactory.getLog(EngineLog.NAME);

    private SpringLog() {}

    static void install() {
        EngineLog.sendTo(INSTANCE);
    }

    @Override
    public String getName() {
        return EngineLog.NAME;
    }

    @Override
    public boolean isLoggable(Level level) {
        return switch (level) {
            case ALL, TRACE -> log.isTraceEnabled();
            case DEBUG -> log.isDebugEnabled();
            case INFO -> log.isInfoEnabled();
            case WARNING -> log.isWarnEnabled();
            case ERROR -> log.isErrorEnabled();
            case OFF -> false;
        };
    }

    @Override
    public void log(Level level, @Nullable ResourceBundle bundle, @Nullable String line, @Nullable Throwable why) {
        switch (level) {
            case ALL, TRACE -> log.trace(line, why);
            case DEBUG -> log.debug(line, why);
            case INFO -> log.info(line, why);
            case WARNING -> log.warn(line, why);
            case ERROR -> log.error(line, why);
            case OFF -> {}
        }
    }

    @Override
    public void log(
            Level level, @Nullable ResourceBundle bundle, @Nullable String format, Object @Nullable ... values) {
        if (isLoggable(level)) {
            boolean plain = format == null || values == null || values.length == 0;
            log(level, bundle, plain ? format : MessageFormat.format(format, values), (Throwable) null);
        }
    }
}
