/** Meters of a client's locks, for Micrometer. */
module io.holdfast.micrometer {
    requires transitive io.holdfast.core;
    requires transitive micrometer.core;
    requires static transitive org.jspecify;

    exports io.holdfast.micrometer;
}
