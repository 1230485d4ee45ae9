package io.holdfast.samples.quarkus;

import io.holdfast.LockTimeoutException;
import io.holdfast.OnceConflictException;
import io.holdfast.samples.quarkus.Payments.Receipt;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import java.io.IOException;
import java.sql.SQLException;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;
import org.jspecify.annotations.Nullable;

/** The endpoint of the shop, whose requests say by a header which of them are the same. */
@Path("/charges")
public class ChargeResource {

    /** What the shop sends. */
    public record Charge(int amount) {}

    private final Payments payments;

    ChargeResource(Payments payments) {
        this.payments = payments;
    }

    @POST
    public Receipt charge(@HeaderParam("Idempotency-Key") @Nullable String key, Charge charge)
            throws SQLException, IOException {
        if (key == null || key.isBlank()) {
            throw new BadRequestException("The header Idempotency-Key is missing");
        }
        return payments.settle(key, charge.amount());
    }

    @ServerExceptionMapper
    RestResponse<Void> otherWork(OnceConflictException e) {
        return RestResponse.status(422);
    }

    @ServerExceptionMapper
    RestResponse<Void> stillRunning(LockTimeoutException e) {
        return RestResponse.status(RestResponse.Status.CONFLICT);
    }
}
