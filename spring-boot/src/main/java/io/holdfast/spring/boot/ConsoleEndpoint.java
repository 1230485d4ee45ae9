package io.holdfast.spring.boot;

import io.holdfast.console.web.ConsoleHandler;
import io.holdfast.console.web.ConsoleRequest;
import io.holdfast.console.web.ConsoleResponse;
import io.holdfast.console.web.EventStream;
import io.holdfast.spi.DaemonThreads;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.util.UriComponentsBuilder;

/**
 * Shows at {@code /actuator/holdfast} the page of all locks of the store, in applications with Spring MVC. The page
 * releases locks by force only with {@code management.endpoint.holdfast.access=unrestricted}.
 */
@WebEndpoint(id = ConsoleEndpoint.ID, defaultAccess = Access.READ_ONLY)
final class ConsoleEndpoint implements ApplicationListener<ContextClosedEvent> {

    static final String ID = "holdfast";

    private static final System.Logger LOG = System.getLogger(ConsoleEndpoint.class.getName());

    private final ConsoleHandler handler;
    private final ApplicationContext context;

    ConsoleEndpoint(ConsoleHandler handler, ApplicationContext context) {
        this.handler = handler;
        this.context = context;
    }

    /** Returns the page. */
    @ReadOperation(produces = "text/html")
    Object page() {
        return answer("");
    }

    /** Returns the events of the page. */
    @ReadOperation(produces = "text/event-stream")
    Object read(@Selector String part) {
        return answer("/" + part);
    }

    /** Releases a lock by force. The parameters are in the query, so that no body is needed. */
    @WriteOperation(produces = "text/plain")
    Object write(@Selector String part) {
        return answer("/" + part);
    }

    /** Ends the streams, for which a graceful shutdown would wait otherwise. */
    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        if (context.equals(event.getApplicationContext())) { // and not a child of it
            handler.close();
        }
    }

    private Object answer(String path) {
        HttpServletRequest request =
                ((ServletRequestAttributes) RequestContextHolder.currentRequestAttributes()).getRequest();
        Map<String, String> parameters = new HashMap<>();
        request.getParameterMap().forEach((name, values) -> parameters.put(name, values[0]));
        ConsoleResponse response = handler.handle(
                new ConsoleRequest(request.getMethod(), path, parameters, origin(request), request::getHeader));
        return response.events().isPresent()
                ? new Events(response, response.events().get()).start()
                : ResponseEntity.status(response.status())
                        .headers(headers -> response.headers().forEach(headers::set))
                        .body(response.body());
    }

    /** Returns the origin as the browser knows it, even behind a proxy if the application trusts its headers. */
    private static String origin(HttpServletRequest request) {
        int port = request.getServerPort();
        return UriComponentsBuilder.newInstance()
                .scheme(request.getScheme())
                .host(request.getServerName())
                .port(port == (request.isSecure() ? 443 : 80) ? -1 : port)
                .toUriString();
    }

    /** Sends events on a thread of its own, because those of the application have other work. */
    private static final class Events extends ResponseBodyEmitter {

        private final ConsoleResponse response;
        private final EventStream events;

        Events(ConsoleResponse response, EventStream events) {
            super(0L); // no timeout: the page listens as long as it is open
            this.response = response;
            this.events = events;
            onCompletion(events::close);
            onTimeout(events::close);
            onError(thrown -> events.close());
        }

        Events start() {
            DaemonThreads.unstarted("holdfast-page", this::send).start();
            return this;
        }

        @Override
        protected void extendResponse(ServerHttpResponse output) {
            response.headers().forEach(output.getHeaders()::set);
        }

        private void send() {
            try (events) {
                for (String event = events.next(); event != null; event = events.next()) {
                    send(event.getBytes(StandardCharsets.UTF_8));
                }
                complete();
            } catch (IOException | IllegalStateException e) {
                // The browser is gone; the container knows that and ends the request.
                LOG.log(System.Logger.Level.TRACE, "The page was closed", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                completeWithError(e);
            }
        }
    }
}
