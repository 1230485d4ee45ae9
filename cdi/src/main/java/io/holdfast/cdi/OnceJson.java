package io.holdfast.cdi;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.enterprise.inject.Instance;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** Writes and reads results as the application's ObjectMapper does. Loaded only where Jackson is. Thread-safe. */
record OnceJson(ObjectMapper mapper) {

    /** Returns null if there is no mapper, or if there are several. */
    static @Nullable OnceJson find(Instance<Object> beans) {
        Instance<ObjectMapper> found = beans.select(ObjectMapper.class);
        return found.isResolvable() ? new OnceJson(found.get()) : null;
    }

    /** @throws IllegalStateException if the value cannot be written, or not be read back */
    String write(String place, Object value, Type type) {
        try {
            String json = mapper.writerFor(mapper.constructType(type)).writeValueAsString(value);
            Object unused = mapper.readValue(json, mapper.constructType(type));
            return json;
        } catch (JsonProcessingException e) {
            throw unusable(place, "cannot be stored as JSON and read back", type, e);
        }
    }

    /** @throws IllegalStateException if the text is not that of such a value */
    @Nullable
    Object read(String place, String json, Type type) {
        try {
            return mapper.readValue(json, mapper.constructType(type));
        } catch (JsonProcessingException e) {
            throw unusable(place, "was stored before and cannot be read", type, e);
        }
    }

    private static IllegalStateException unusable(String place, String what, Type type, JsonProcessingException e) {
        return new IllegalStateException(
                place + ": the result " + what + " as " + type.getTypeName() + ": " + e.getOriginalMessage()
                        + " (expected: a return type that the ObjectMapper can write and read)",
                e);
    }
}
