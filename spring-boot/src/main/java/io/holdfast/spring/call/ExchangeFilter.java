package io.holdfast.spring.call;

import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * Puts the exchange into Reactor's context, for requests whose work is done once. It is the last filter: the exchange is
 * the one that the controller sees, with the user whom other filters have found.
 */
public final class ExchangeFilter implements WebFilter, Ordered {

    @Override
    public int getOrder() {
        return LOWEST_PRECEDENCE;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        return chain.filter(exchange).contextWrite(context -> context.put(ExchangeFilter.class, exchange));
    }

    static @Nullable ServerWebExchange exchange(ContextView context) {
        return context.getOrDefault(ExchangeFilter.class, null);
    }
}
