package io.holdfast.console.web;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LocalAccessTest {

    private final LocalAccess access = new LocalAccess(8099);

    @Test
    void theTokenOpensThePageAndWhatIsBelowIt() {
        assertThat(access.url()).matches("http://127\\.0\\.0\\.1:8099/[\\w-]{32}");
        String page = access.url().substring("http://127.0.0.1:8099".length());
        assertThat(access.path(page)).hasValue("");
        assertThat(access.path(page + "/")).hasValue("");
        assertThat(access.path(page + "/events")).hasValue("/events");
    }

    @Test
    void anotherTokenOpensNothing() {
        String page = access.url().substring("http://127.0.0.1:8099".length());
        for (String path : new String[] {
            "",
            "/",
            "//",
            "/events",
            "/" + page,
            page + "x",
            page.substring(0, page.length() - 1),
            "/x" + page + "/events",
            new LocalAccess(8099).url().substring("http://127.0.0.1:8099".length())
        }) {
            assertThat(access.path(path)).as(path).isEmpty();
        }
    }

    /** A page of another site can point its own host name to this address. */
    @Test
    void onlyTheHostOfThisPageIsAnswered() {
        assertThat(access.isOwnHost("127.0.0.1:8099")).isTrue();
        assertThat(access.isOwnHost("localhost:8099")).isTrue();
        for (String host : new String[] {"evil.example:8099", "127.0.0.1", "127.0.0.1:80", "localhost:8099.evil", ""}) {
            assertThat(access.isOwnHost(host)).as(host).isFalse();
        }
        assertThat(access.isOwnHost(null)).isFalse();
    }
}
