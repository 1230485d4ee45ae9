package io.holdfast.spring.boot;

import io.holdfast.spring.IdempotentRequestException;
import java.util.Locale;
import org.springframework.context.MessageSource;
import org.springframework.context.MessageSourceAware;
import org.springframework.context.support.StaticMessageSource;
import org.springframework.core.Ordered;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

/** Answers refused repetitions as problem details, after the handlers of the application. */
@ControllerAdvice
final class IdempotentRequestAdvice implements Ordered, MessageSourceAware {

    private final int order;
    private volatile MessageSource messages = new StaticMessageSource();

    IdempotentRequestAdvice(int order) {
        this.order = order;
    }

    @Override
    public void setMessageSource(MessageSource messages) {
        this.messages = messages;
    }

    @Override
    public int getOrder() {
        return order;
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> refused(IdempotentRequestException e, Locale locale) {
        return ResponseEntity.status(e.getStatusCode()).body(e.updateAndGetBody(messages, locale));
    }
}
