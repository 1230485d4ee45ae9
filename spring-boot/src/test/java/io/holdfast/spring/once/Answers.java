package io.holdfast.spring.once;

import io.holdfast.LockTimeoutException;
import io.holdfast.OnceConflictException;
import io.holdfast.spring.IdempotentRequestException;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** How an application answers in a form of its own: the code of docs/idempotent.md. */
@RestControllerAdvice
class Answers {

    record Answer(String code, String msg) {}

    @ExceptionHandler
    ResponseEntity<Answer> refused(IdempotentRequestException e) {
        String code = switch (e.getStatusCode().value()) {
            case 400 -> "NO_IDEMPOTENCY_KEY";
            case 409 -> "STILL_RUNNING";
            default -> "KEY_USED_FOR_ANOTHER_REQUEST";
        };
        return ResponseEntity.status(e.getStatusCode())
                .body(new Answer(code, e.getBody().getDetail()));
    }

    @ExceptionHandler
    ResponseEntity<Answer> otherWork(OnceConflictException e) { // of @Idempotent
        return ResponseEntity.status(422)
                .body(new Answer("KEY_USED_FOR_ANOTHER_REQUEST", "This was sent with other contents."));
    }

    @ExceptionHandler
    ResponseEntity<Answer> busy(LockTimeoutException e) {
        return ResponseEntity.status(409).body(new Answer("STILL_RUNNING", "Try again later."));
    }
}
