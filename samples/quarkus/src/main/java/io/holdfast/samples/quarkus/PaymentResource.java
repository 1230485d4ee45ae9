package io.holdfast.samples.quarkus;

import io.holdfast.OnceConflictException;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import java.io.IOException;
import java.sql.SQLException;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

/** The endpoint of the bank's callback. */
@Path("/payments/{id}/{amount}")
public class PaymentResource {

    private final Payments payments;

    PaymentResource(Payments payments) {
        this.payments = payments;
    }

    @POST
    public Payments.Receipt settle(@PathParam("id") String id, @PathParam("amount") int amount)
            throws SQLException, IOException {
        return payments.settle(id, amount);
    }

    @ServerExceptionMapper
    RestResponse<String> otherWork(OnceConflictException e) {
        return RestResponse.ResponseBuilder.<String>create(422)
                .entity("This was sent with another amount.")
                .build();
    }

    @ServerExceptionMapper
    RestResponse<String> refused(IOException e) {
        return RestResponse.status(RestResponse.Status.BAD_GATEWAY, e.getMessage());
    }
}
