package io.holdfast.spring.declaration;

import java.util.Optional;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * Makes a null part of a concatenation an error. SpEL would join the text {@code null}, so that all calls without a
 * value would share one lock, or have a lock that no other call has.
 */
final class Concatenation {

    private Concatenation() {}

    /** Returns an expression with the same text and value, in which each operand of {@code +} is checked. */
    static SpelExpression checked(SpelExpression expression) {
        return new SpelExpression(
                expression.getExpressionString(), checked(expression.getAST()), new SpelParserConfiguration());
    }

    /** Nodes of other kinds stay as they are: none of them is likely to have a concatenation of a key inside. */
    private static SpelNodeImpl checked(SpelNode node) {
        int start = node.getStartPosition();
        int end = node.getEndPosition();
        SpelNodeImpl same = (SpelNodeImpl) node;
        if (node instanceof OpPlus && node.getChildCount() == 2) {
            SpelNodeImpl[] operands = checkedChildren(node);
            return new OpPlus(start, end, new Part(operands[0]), new Part(operands[1]));
        }
        if (node instanceof Ternary) {
            return new Ternary(start, end, checkedChildren(node));
        }
        if (node instanceof Elvis) {
            return new Elvis(start, end, checkedChildren(node));
        }
        if (node instanceof InlineList) {
            return new InlineList(start, end, checkedChildren(node));
        }
        if (node instanceof CompoundExpression) {
            return new CompoundExpression(start, end, checkedChildren(node));
        }
        if (node instanceof MethodReference method) {
            return new MethodReference(same.isNullSafe(), method.getName(), start, end, checkedChildren(node));
        }
        return same;
    }

    private static SpelNodeImpl[] checkedChildren(SpelNode node) {
        SpelNodeImpl[] all = new SpelNodeImpl[node.getChildCount()];
        for (int i = 0; i < all.length; i++) {
            all[i] = checked(node.getChild(i));
        }
        return all;
    }

    /** An operand of {@code +}. An {@code Optional} counts as its content, as in a key without a concatenation. */
    private static final class Part extends SpelNodeImpl {

        Part(SpelNodeImpl operand) {
            super(operand.getStartPosition(), operand.getEndPosition(), operand);
        }

        @Override
        public TypedValue getValueInternal(ExpressionState state) {
            TypedValue value = children[0].getValueInternal(state);
            Object content =
                    value.getValue() instanceof Optional<?> optional ? optional.orElse(null) : value.getValue();
            if (content == null) {
                throw new EvaluationException("the part " + toStringAST() + " is null");
            }
            String unstable = Texts.whyUnstable(content);
            if (unstable != null) {
                throw new EvaluationException("the part " + toStringAST() + " " + unstable);
            }
            return value.getValue() instanceof Optional<?> ? new TypedValue(content) : value;
        }

        @Override
        public String toStringAST() {
            return children[0].toStringAST();
        }
    }
}
