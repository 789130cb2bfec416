// Package ledger keeps the records of runs at the broker, so that operators see each other's runs. What is told of a run goes there in parts, sealed for
// named readers, signed by its operator and chained, each part naming the one before it: the broker can neither read a part, nor alter, swap or leave
// one out without that being seen. It does not make records, and does not know what their lines say (package record does).
package ledger
