package io.holdfast.redis.connect;

/** Which classes there are beside the driver's: Lettuce 7 brings some that applications with Lettuce 6 do not have. */
public final class DriverClasses {

    private DriverClasses() {}

    /** Does not initialize it. */
    static boolean has(String name) {
        try {
            Class.forName(name, false, DriverClasses.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException missing) {
            return false;
        }
    }
}
