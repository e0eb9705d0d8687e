# Averages of ROC curves by ROCR, to be compared with Priori's. Run in this folder:
#   Rscript rocr.R
# ROCR averages inside plot() and returns nothing, so the average is taken when it is about to be drawn.

suppressMessages(library(ROCR))

average <- function(file, method) {
  table <- read.csv(file)
  pieces <- split(table, table$dataset)
  found <- performance(
    prediction(lapply(pieces, function(p) p$score), lapply(pieces, function(p) p$label)),
    "tpr", "fpr"
  )
  drawn <- new.env()
  assign("rocr_drawn", drawn, envir = globalenv())
  suppressMessages(trace(
    ".plot.performance", where = asNamespace("ROCR"), print = FALSE,
    tracer = quote(assign("perf", perf, envir = get("rocr_drawn", envir = globalenv())))
  ))
  pdf(NULL)
  plot(found, avg = method)
  invisible(dev.off())
  suppressMessages(untrace(".plot.performance", where = asNamespace("ROCR")))
  perf <- drawn$perf
  stopifnot(length(perf@x.values) == 1)
  cutoff <- if (method == "threshold") perf@alpha.values[[1]] else NA
  data.frame(method = method, cutoff = cutoff, fpr = perf@x.values[[1]], tpr = perf@y.values[[1]])
}

for (name in c("ratings", "scores")) {
  rows <- do.call(rbind, lapply(c("vertical", "horizontal", "threshold"), function(m) average(paste0(name, ".csv"), m)))
  rows[] <- lapply(rows, function(column) if (is.numeric(column)) format(column, digits = 17, trim = TRUE) else column)
  write.csv(rows, paste0(name, "-rocr.csv"), row.names = FALSE, quote = FALSE)
}
cat(R.version.string, "\nROCR", as.character(packageVersion("ROCR")), "\n")
