package io.holdfast.sql;

import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Finds the driver, which is the user's. */
final class Drivers {

    private Drivers() {}

    /** @throws StoreException if there is none; the message names the dependency */
    static Driver find(SqlSettings settings) {
        try {
            return DriverManager.getDriver(settings.url());
        } catch (SQLException e) {
            // It may be on a class path that DriverManager did not look at when it was loaded.
            Driver driver = load(settings, Drivers.class.getClassLoader());
            if (driver == null) {
                driver = load(settings, Thread.currentThread().getContextClassLoader());
            }
            if (driver != null) {
                return driver;
            }
            throw new StoreException(
                    Outcome.FATAL,
                    settings.shown() + " needs the driver " + settings.kind().artifact()
                            + ", which is not on the class path",
                    null);
        }
    }

    private static @Nullable Driver load(SqlSettings settings, @Nullable ClassLoader loader) {
        try {
            Object made = Class.forName(settings.kind().driver(), true, loader)
                    .getDeclaredConstructor()
                    .newInstance();
            return made instanceof Driver driver && driver.acceptsURL(settings.url()) ? driver : null;
        } catch (ReflectiveOperationException | LinkageError | SQLException e) {
            return null;
        }
    }
}
