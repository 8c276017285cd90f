/* Naive Bayes as plain C: test-then-train over complete rows of weight 1, as a limit for our kernel (schemas.py).

Everything that a prediction reads has the classes innermost, so that one attribute meets all classes in a few vectors. */

#include <math.h>
#include <stdlib.h>

enum { MAX_CLASSES = 16 };
#define HALF_LN_2PI 0.91893853320467274
#define RULED_OUT -1e280

static int find_greatest(const double *log, int n_classes) {
    int best = 0;
    for (int c = 1; c < n_classes; c++)
        best = log[c] > log[best] ? c : best;
    return best;
}

/* Nominal attributes of n_values values each: returns the number of rows that were predicted correctly. */
long learn_nominal(const double *x, const int *y, long n_rows, int n_attributes, int n_values, int n_classes) {
    size_t n_counts = (size_t)n_attributes * n_values * MAX_CLASSES;
    int *count = calloc(n_counts, sizeof *count);
    double *log_count = calloc(n_counts, sizeof *log_count);
    double *log_of = malloc((n_rows + n_values + 1) * sizeof *log_of);
    long n_logs = 1, seen[MAX_CLASSES] = {0}, hits = 0;
    double base[MAX_CLASSES];
    for (int c = 0; c < MAX_CLASSES; c++)
        base[c] = RULED_OUT;
    for (long row = 0; row < n_rows; row++, x += n_attributes) {
        double log[MAX_CLASSES];
        for (int c = 0; c < MAX_CLASSES; c++)
            log[c] = base[c];
        for (int a = 0; a < n_attributes; a++) {
            const double *values = log_count + ((size_t)a * n_values + (int)x[a]) * MAX_CLASSES;
            for (int c = 0; c < MAX_CLASSES; c++)
                log[c] += values[c];
        }
        int label = y[row];
        hits += row > 0 && find_greatest(log, n_classes) == label;
        long n = ++seen[label];
        for (; n_logs <= n + n_values; n_logs++)
            log_of[n_logs] = __builtin_log(n_logs);
        base[label] = log_of[n] - n_attributes * log_of[n + n_values];
        for (int a = 0; a < n_attributes; a++) {
            size_t at = ((size_t)a * n_values + (int)x[a]) * MAX_CLASSES + label;
            log_count[at] = log_of[++count[at] + 1];
        }
    }
    free(count), free(log_count), free(log_of);
    return hits;
}

/* Numeric attributes: returns the number of rows that were predicted correctly. */
long learn_numeric(const double *x, const int *y, long n_rows, int n_attributes, int n_classes) {
    size_t n = (size_t)n_attributes * MAX_CLASSES;
    double *mean = calloc(n, sizeof *mean), *decay = calloc(n, sizeof *decay), *squares = calloc(n, sizeof *squares);
    double base[MAX_CLASSES];
    long seen[MAX_CLASSES] = {0}, hits = 0;
    int width = (n_classes + 3) / 4 * 4;
    for (int c = 0; c < MAX_CLASSES; c++)
        base[c] = RULED_OUT;
    for (long row = 0; row < n_rows; row++, x += n_attributes) {
        double log[MAX_CLASSES];
        for (int c = 0; c < width; c++)
            log[c] = base[c];
        for (int a = 0; a < n_attributes; a++)
            for (int c = 0; c < width; c++) {
                double delta = x[a] - mean[a * width + c];
                log[c] += delta * delta * decay[a * width + c];
            }
        int label = y[row];
        hits += row > 0 && find_greatest(log, n_classes) == label;
        double weight = ++seen[label], dof = weight - 1, product = 1, sum = 0;
        int n_normal = 0;
        for (int a = 0; a < n_attributes; a++) {
            size_t at = (size_t)a * width + label;
            double delta = x[a] - mean[at];
            mean[at] += delta / weight;
            squares[at] += delta * (x[a] - mean[at]);
            int normal = dof > 0 && squares[at] > 0;
            double precision = normal ? dof / squares[at] : 1;
            decay[at] = normal ? -0.5 * precision : RULED_OUT;
            n_normal += normal;
            product *= precision;
            if (a % 8 == 7) {
                sum += __builtin_log(product);
                product = 1;
            }
        }
        base[label] = __builtin_log(weight) + 0.5 * (sum + __builtin_log(product)) - n_normal * HALF_LN_2PI;
    }
    free(mean), free(decay), free(squares);
    return hits;
}
