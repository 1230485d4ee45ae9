package io.holdfast.redis.lua;

import java.util.List;

/**
 * The reply of a script, read element by element in the order that the script's head documents. Reading throws if the
 * element has another type. A reply is read once, by one thread.
 */
public final class ScriptReply {

    private final List<Object> elements;
    private int next;

    ScriptReply(List<Object> elements) {
        this.elements = elements;
    }

    /** Returns whether the first element is this number. Does not read it. */
    boolean beginsWith(long code) {
        return !elements.isEmpty() && elements.get(0).equals(code);
    }

    public long number() {
        return (Long) elements.get(next++);
    }

    /** Reads a number that fits an int: a code, a count or a place. */
    public int integer() {
        return (int) number();
    }

    /** Reads a number that is 1 for yes. */
    public boolean flag() {
        return number() == 1;
    }

    /** Returns whether an element follows. */
    boolean hasNext() {
        return next < elements.size();
    }

    /** Reads a list of numbers. */
    public long[] numbers() {
        List<?> list = (List<?>) elements.get(next++);
        return list.stream().mapToLong(number -> (Long) number).toArray();
    }

    /** Reads a list of texts. */
    public List<String> texts() {
        List<?> list = (List<?>) elements.get(next++);
        return list.stream().map(String.class::cast).toList();
    }

    public String text() {
        return (String) elements.get(next++);
    }
}
