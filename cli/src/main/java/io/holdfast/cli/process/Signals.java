package io.holdfast.cli.process;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Receives signals. The only place that touches {@code sun.misc.Signal}: Java has no other way to tell one signal from
 * another. By reflection, because the compiler's warning about that class cannot be switched off.
 */
public final class Signals implements AutoCloseable {

    /**
     * A signal that arrived.
     *
     * @param name without SIG, for example {@code TERM}
     */
    public record Received(String name, int number) {}

    private record Handled(Object signal, Object before) {}

    private final List<Handled> handled = new ArrayList<>();

    private Signals() {}

    /**
     * Hands these signals to the receiver, each on a thread of its own, in place of what the JVM would do, until
     * closed. A signal that this process was started to ignore ({@code nohup}, a background job of a plain shell) stays
     * ignored.
     *
     * @param needed names without SIG
     * @param others names of signals that a system may lack, and that a JVM may keep for its own use; those are left
     *     as they are
     */
    public static Signals receive(List<String> needed, List<String> others, Consumer<Received> receiver) {
        Signals signals = new Signals();
        needed.forEach(name -> signals.handle(name, true, receiver));
        others.forEach(name -> signals.handle(name, false, receiver));
        return signals;
    }

    private void handle(String name, boolean needed, Consumer<Received> receiver) {
        try {
            Object signal = signalClass().getConstructor(String.class).newInstance(name);
            int number = (int) signalClass().getMethod("getNumber").invoke(signal);
            Object before = set(signal, handler(() -> receiver.accept(new Received(name, number))));
            if (before.equals(handlerClass().getField("SIG_IGN").get(null))) {
                set(signal, before);
            } else {
                handled.add(new Handled(signal, before));
            }
        } catch (ReflectiveOperationException e) {
            if (!needed && e.getCause() instanceof IllegalArgumentException) { // unknown here, or used by the JVM
                return;
            }
            close();
            throw new IllegalStateException("This Java cannot receive the signal " + name + ": " + e, e);
        }
    }

    /** Puts back what was there before. */
    @Override
    public void close() {
        for (Handled one : handled) {
            try {
                set(one.signal(), one.before());
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("A signal handler could not be put back", e);
            }
        }
        handled.clear();
    }

    private static Object set(Object signal, Object handler) throws ReflectiveOperationException {
        Method method = signalClass().getMethod("handle", signalClass(), handlerClass());
        return method.invoke(null, signal, handler);
    }

    private static Object handler(Runnable task) throws ReflectiveOperationException {
        InvocationHandler calls = (proxy, method, args) -> call(proxy, method, args, task);
        return Proxy.newProxyInstance(Signals.class.getClassLoader(), new Class<?>[] {handlerClass()}, calls);
    }

    @SuppressWarnings("ReferenceEquality") // equality of a proxy is for this method to say
    private static @Nullable Object call(Object proxy, Method method, Object @Nullable [] args, Runnable task) {
        return switch (method.getName()) {
            case "equals" -> args != null && proxy == args[0];
            case "hashCode" -> System.identityHashCode(proxy);
            case "toString" -> "a handler of Holdfast";
            default -> {
                task.run();
                yield null;
            }
        };
    }

    private static Class<?> signalClass() throws ClassNotFoundException {
        return Class.forName("sun.misc.Signal");
    }

    private static Class<?> handlerClass() throws ClassNotFoundException {
        return Class.forName("sun.misc.SignalHandler");
    }
}
