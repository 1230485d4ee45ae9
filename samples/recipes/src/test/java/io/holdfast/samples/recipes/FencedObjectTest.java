package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import java.net.http.HttpClient;
import org.junit.jupiter.api.Test;

class FencedObjectTest {

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    void an_old_holder_that_has_read_the_object_cannot_write_it() throws Exception {
        try (ObjectStore store = new ObjectStore();
                TwoHolders holders = new TwoHolders("object")) {
            FencedObject.update(http, store.object(), holders.old, text -> text + "a");

            assertThatThrownBy(() -> FencedObject.update(http, store.object(), holders.old, text -> {
                        next(store, holders, "b");
                        return text + "late";
                    }))
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("refused");

            assertThat(store.content()).endsWith("\nab");
        }
    }

    /** The next holder leaves the text as it was: the token in the object makes the ETag another one. */
    @Test
    void an_old_holder_cannot_write_even_if_the_text_is_as_it_read_it() throws Exception {
        try (ObjectStore store = new ObjectStore();
                TwoHolders holders = new TwoHolders("object")) {
            FencedObject.update(http, store.object(), holders.old, text -> text + "a");

            assertThatThrownBy(() -> FencedObject.update(http, store.object(), holders.old, text -> {
                        next(store, holders, "");
                        return text + "late";
                    }))
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("refused");

            assertThat(store.content()).endsWith("\na");
        }
    }

    @Test
    void an_old_holder_cannot_create_what_the_next_one_has_created() throws Exception {
        try (ObjectStore store = new ObjectStore();
                TwoHolders holders = new TwoHolders("object")) {
            assertThatThrownBy(() -> FencedObject.update(http, store.object(), holders.old, text -> {
                        next(store, holders, "b");
                        return "late";
                    }))
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("refused");

            assertThat(store.content()).endsWith("\nb");
        }
    }

    /** The old holder writes between the read and the write of the next one, which then repeats its change. */
    @Test
    void the_next_holder_repeats_a_write_that_an_old_one_has_overtaken() throws Exception {
        try (ObjectStore store = new ObjectStore();
                TwoHolders holders = new TwoHolders("object")) {
            Lease old = holders.old;
            Lease next = holders.next();
            int[] tries = {0};
            FencedObject.update(http, store.object(), next, text -> {
                if (tries[0]++ == 0) {
                    unchecked(() -> FencedObject.update(http, store.object(), old, before -> before + "a"));
                }
                return text + "b";
            });
            assertThat(tries[0]).isEqualTo(2);
            assertThat(store.content()).isEqualTo(next.fencingToken() + "\nab");
        }
    }

    private void next(ObjectStore store, TwoHolders holders, String more) {
        unchecked(() -> FencedObject.update(http, store.object(), holders.next(), text -> text + more));
    }

    private interface Action {
        void run() throws Exception;
    }

    private static void unchecked(Action action) {
        try {
            action.run();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
