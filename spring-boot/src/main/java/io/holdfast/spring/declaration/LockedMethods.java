package io.holdfast.spring.declaration;

import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Lists the locked methods of the beans that were made so far, for people to read. Thread-safe. */
public final class LockedMethods {

    /** By the method and its class, and then by kind: several beans may have one class. */
    private final Map<String, LockedOperation> operations = new ConcurrentHashMap<>();

    public void add(LockedOperation operation) {
        operations.put(operation.describe() + " " + operation.kind(), operation);
    }

    /** Returns how many methods are locked, and how many are limited and idempotent if there are any, for people. */
    public String describeCount() {
        Map<String, Long> counts = operations.values().stream()
                .collect(Collectors.groupingBy(each -> each.kind().adjective(), TreeMap::new, Collectors.counting()));
        counts.putIfAbsent(Kind.LOCK.adjective(), 0L);
        return counts.entrySet().stream()
                .sorted(Comparator.comparing(each -> !each.getKey().equals(Kind.LOCK.adjective())))
                .map(each -> each.getValue() + " " + each.getKey() + (each.getValue() == 1 ? " method" : " methods"))
                .collect(Collectors.joining(", "));
    }

    /** Returns the declarations, sorted by class and method. */
    public Stream<LockedOperation> all() {
        return operations.entrySet().stream().sorted(Map.Entry.comparingByKey()).map(Map.Entry::getValue);
    }
}
