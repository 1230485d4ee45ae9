package io.holdfast.samples.refunds;

import io.holdfast.LockTimeoutException;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
class RefundController {

    private final Refunds refunds;
    private final Ledger ledger;

    RefundController(Refunds refunds, Ledger ledger) {
        this.refunds = refunds;
        this.ledger = ledger;
    }

    @PostMapping("/orders/{id}/refund")
    String refund(@PathVariable("id") long id) {
        return refunds.refund(id, null) ? "refunded" : "refunded before";
    }

    @PostMapping("/sites/{id}/report/{day}")
    String report(@PathVariable("id") long id, @PathVariable("day") String day) {
        Boolean made = refunds.report(new SiteReportRequest(id, day), null);
        return made == null ? "being made" : made ? "made" : "made before";
    }

    @GetMapping("/orders/{id}/refunds")
    long refunds(@PathVariable("id") long id) {
        return ledger.writes("refund:" + id);
    }

    @ExceptionHandler
    @ResponseStatus(HttpStatus.CONFLICT)
    String busy(LockTimeoutException e) {
        return "try again";
    }
}
