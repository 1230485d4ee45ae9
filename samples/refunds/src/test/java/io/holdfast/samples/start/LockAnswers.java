package io.holdfast.samples.start;

import io.holdfast.LockException;
import io.holdfast.LockTimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

@RestControllerAdvice
class LockAnswers {

    @ExceptionHandler
    Result busy(LockTimeoutException e) {
        return new Result(40901, "正在处理，请勿重复提交", null);
    }

    @ExceptionHandler
    Result failed(LockException e) {
        return new Result(50301, "系统繁忙，请稍后再试", null);
    }

    record Result(int code, String msg, @Nullable Object data) {}
}
