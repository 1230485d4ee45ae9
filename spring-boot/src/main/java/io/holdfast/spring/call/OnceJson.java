package io.holdfast.spring.call;

import java.io.IOException;
import java.lang.reflect.Type;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Writes and reads results as the application's ObjectMapper does, except that it refuses an object without properties:
 * nothing of that would be stored or compared. Thread-safe.
 */
interface OnceJson {

    /**
     * Returns the value as JSON.
     *
     * @throws IllegalArgumentException if the mapper cannot write it
     */
    String write(@Nullable Object value, Type type);

    /**
     * Returns the value of JSON.
     *
     * @throws IllegalArgumentException if the mapper cannot read it
     */
    @Nullable
    Object read(String json, Type type);

    /**
     * Returns JSON that is equal for equal values, in every process: properties, keys of maps and elements of sets are
     * sorted. The order of a set of enums, and of {@code Set.of}, differs between processes.
     *
     * @throws IllegalArgumentException if the mapper cannot write it
     */
    String sorted(@Nullable Object value);

    /** Returns the JSON of the application's mapper: of Jackson 3, otherwise of Jackson 2; null if there is neither. */
    static @Nullable OnceJson of(ListableBeanFactory beans) {
        ClassLoader loader = OnceJson.class.getClassLoader();
        OnceJson json =
                ClassUtils.isPresent("tools.jackson.databind.json.JsonMapper", loader) ? Jackson3.find(beans) : null;
        return json == null && ClassUtils.isPresent("com.fasterxml.jackson.databind.ObjectMapper", loader)
                ? Jackson2.find(beans)
                : json;
    }

    /** Of Boot 4. */
    final class Jackson3 implements OnceJson {

        private final tools.jackson.databind.json.JsonMapper mapper;
        private final tools.jackson.databind.json.JsonMapper sorting;

        private Jackson3(tools.jackson.databind.json.JsonMapper mapper) {
            this.mapper = mapper.rebuild()
                    .enable(tools.jackson.databind.SerializationFeature.FAIL_ON_EMPTY_BEANS)
                    .build();
            this.sorting = this.mapper
                    .rebuild()
                    .addModule(new tools.jackson.databind.module.SimpleModule()
                            .addSerializer(new SortedSets3(this::sorted)))
                    .enable(tools.jackson.databind.cfg.JsonNodeFeature.WRITE_PROPERTIES_SORTED)
                    .enable(tools.jackson.databind.MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
                    .disable(tools.jackson.databind.MapperFeature.SORT_CREATOR_PROPERTIES_FIRST)
                    .enable(tools.jackson.databind.SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
                    .build();
        }

        static @Nullable OnceJson find(ListableBeanFactory beans) {
            tools.jackson.databind.json.JsonMapper found = beans.getBeanProvider(
                            tools.jackson.databind.json.JsonMapper.class)
                    .getIfUnique();
            return found == null ? null : new Jackson3(found);
        }

        @Override
        public String write(@Nullable Object value, Type type) {
            try {
                return mapper.writerFor(mapper.constructType(type)).writeValueAsString(value);
            } catch (tools.jackson.core.JacksonException e) {
                throw new IllegalArgumentException(e.getOriginalMessage(), e);
            }
        }

        @Override
        public @Nullable Object read(String json, Type type) {
            try {
                return mapper.readValue(json, mapper.constructType(type));
            } catch (tools.jackson.core.JacksonException e) {
                throw new IllegalArgumentException(e.getOriginalMessage(), e);
            }
        }

        @Override
        public String sorted(@Nullable Object value) {
            try {
                return sorting.writeValueAsString(value);
            } catch (tools.jackson.core.JacksonException e) {
                throw new IllegalArgumentException(e.getOriginalMessage(), e);
            }
        }

        /** Writes the JSON of each element as a text. */
        private static final class SortedSets3 extends tools.jackson.databind.ValueSerializer<Set<?>> {

            private final Function<@Nullable Object, String> json;

            SortedSets3(Function<@Nullable Object, String> json) {
                this.json = json;
            }

            @Override
            public Class<?> handledType() {
                return Set.class;
            }

            @Override
            public void serialize(
                    Set<?> elements,
                    tools.jackson.core.JsonGenerator to,
                    tools.jackson.databind.SerializationContext context) {
                to.writeStartArray();
                elements.stream().map(json).sorted().forEach(to::writeString);
                to.writeEndArray();
            }

            @Override
            public void serializeWithType(
                    Set<?> elements,
                    tools.jackson.core.JsonGenerator to,
                    tools.jackson.databind.SerializationContext context,
                    tools.jackson.databind.jsontype.TypeSerializer type) {
                serialize(elements, to, context);
            }
        }
    }

    /** Of Boot 3. */
    final class Jackson2 implements OnceJson {

        private final com.fasterxml.jackson.databind.ObjectMapper mapper;
        private final com.fasterxml.jackson.databind.ObjectMapper sorting;

        private Jackson2(com.fasterxml.jackson.databind.ObjectMapper mapper) {
            this.mapper = mapper.copy().enable(com.fasterxml.jackson.databind.SerializationFeature.FAIL_ON_EMPTY_BEANS);
            this.sorting = sorting(this.mapper.copy());
        }

        @SuppressWarnings("deprecation") // the builder of Jackson 2 cannot begin with a mapper that is there
        private com.fasterxml.jackson.databind.ObjectMapper sorting(com.fasterxml.jackson.databind.ObjectMapper copy) {
            return copy.registerModule(new com.fasterxml.jackson.databind.module.SimpleModule()
                            .addSerializer(new SortedSets2(this::sorted)))
                    .configure(com.fasterxml.jackson.databind.cfg.JsonNodeFeature.WRITE_PROPERTIES_SORTED, true)
                    .configure(com.fasterxml.jackson.databind.MapperFeature.SORT_PROPERTIES_ALPHABETICALLY, true)
                    .configure(com.fasterxml.jackson.databind.MapperFeature.SORT_CREATOR_PROPERTIES_FIRST, false)
                    .enable(com.fasterxml.jackson.databind.SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS);
        }

        static @Nullable OnceJson find(ListableBeanFactory beans) {
            com.fasterxml.jackson.databind.ObjectMapper found = beans.getBeanProvider(
                            com.fasterxml.jackson.databind.ObjectMapper.class)
                    .getIfUnique();
            return found == null ? null : new Jackson2(found);
        }

        @Override
        public String write(@Nullable Object value, Type type) {
            try {
                return mapper.writerFor(mapper.constructType(type)).writeValueAsString(value);
            } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
                throw new IllegalArgumentException(e.getOriginalMessage(), e);
            }
        }

        @Override
        public @Nullable Object read(String json, Type type) {
            try {
                return mapper.readValue(json, mapper.constructType(type));
            } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
                throw new IllegalArgumentException(e.getOriginalMessage(), e);
            }
        }

        @Override
        public String sorted(@Nullable Object value) {
            try {
                return sorting.writeValueAsString(value);
            } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
                throw new IllegalArgumentException(e.getOriginalMessage(), e);
            }
        }

        /** Writes the JSON of each element as a text. */
        private static final class SortedSets2 extends com.fasterxml.jackson.databind.JsonSerializer<Set<?>> {

            private final Function<@Nullable Object, String> json;

            SortedSets2(Function<@Nullable Object, String> json) {
                this.json = json;
            }

            @Override
            @SuppressWarnings("unchecked") // a class has no type arguments
            public Class<Set<?>> handledType() {
                return (Class<Set<?>>) (Class<?>) Set.class;
            }

            @Override
            public void serialize(
                    Set<?> elements,
                    com.fasterxml.jackson.core.JsonGenerator to,
                    com.fasterxml.jackson.databind.SerializerProvider provider)
                    throws IOException {
                to.writeStartArray();
                for (String each : elements.stream().map(json).sorted().toList()) {
                    to.writeString(each);
                }
                to.writeEndArray();
            }

            @Override
            public void serializeWithType(
                    Set<?> elements,
                    com.fasterxml.jackson.core.JsonGenerator to,
                    com.fasterxml.jackson.databind.SerializerProvider provider,
                    com.fasterxml.jackson.databind.jsontype.TypeSerializer type)
                    throws IOException {
                serialize(elements, to, provider);
            }
        }
    }
}
