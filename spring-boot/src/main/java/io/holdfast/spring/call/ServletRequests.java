package io.holdfast.spring.call;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.security.Principal;
import java.util.Collections;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** The HTTP requests of Spring MVC, which belong to threads. Loaded only in Spring MVC. */
final class ServletRequests {

    private ServletRequests() {}

    /** Returns the request that the calling thread serves. */
    static OnceRequest current() {
        if (!(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes servlet)) {
            throw new IllegalStateException("@IdempotentRequest: there is no HTTP request on this thread"
                    + " (expected: a call by Spring MVC; @Idempotent for other callers)");
        }
        HttpServletRequest request = servlet.getRequest();
        Principal user = request.getUserPrincipal();
        return new OnceRequest(
                request.getMethod(),
                request.getRequestURI(),
                user == null ? null : user.getName(),
                Collections.list(request.getHeaders(OnceRequest.HEADER)),
                request.getParameterMap(),
                () -> {
                    HttpServletResponse response = servlet.getResponse();
                    if (response != null) {
                        response.setHeader(OnceRequest.REPLAYED, "true");
                    }
                });
    }
}
