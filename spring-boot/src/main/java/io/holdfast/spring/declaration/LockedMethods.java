package io.holdfast.spring.declaration;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Lists the locked methods of the beans that were made so far, for people to read. Thread-safe. */
public final class LockedMethods {

    /** By the method and its class: several beans may have one class. */
    private final Map<String, LockedOperation> operations = new ConcurrentHashMap<>();

    public void addAll(Collection<LockedOperation> all) {
        all.forEach(each -> operations.put(each.describe(), each));
    }

    public int size() {
        return operations.size();
    }

    /** Returns the declarations, sorted by class and method. */
    public Stream<LockedOperation> all() {
        return operations.entrySet().stream().sorted(Map.Entry.comparingByKey()).map(Map.Entry::getValue);
    }
}
