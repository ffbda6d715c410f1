#ifndef THNN_CONNECTION_TABLE_CONNECTION_LIST_H
#define THNN_CONNECTION_TABLE_CONNECTION_LIST_H

#include "connection_table/connection_table.h"

/* The connections of a table, sorted so that those that share packed data are adjacent. Channels of one side of the
   connections are major, channels of the other side minor; both are divided into blocks. Connections are sorted by the
   major channel's block, the minor channel's block, the major channel, the row of the table. */

typedef struct Connection {
  int32_t major, minor, row; /* row: relative to the first row of the list */
} Connection;

typedef struct ConnectionList {
  const Connection *entries;
  int64_t count;
  int64_t majorBlock, minorBlock; /* channels of a block */
  int64_t minorBlocks;            /* number of minor blocks */
} ConnectionList;

/* Rows of the table that are sorted at a time; the results of later rows are added. */
#define TABLE_ROWS 16384

/* The bytes at the beginning of the calling thread's scratch memory that a list occupies. */
size_t THNN_(connectionListBytes)(const ConnectionTable *table);

/* Sorts `count` rows from firstRow on into scratch memory of scratchBytes bytes, which includes connectionListBytes. */
void THNN_(connectionListSort)(ConnectionList *list, const ConnectionTable *table, int64_t firstRow,
                               int majorColumn, size_t scratchBytes);

/* The first connection of block number `block`, or of a later block: block = majorBlockIndex * minorBlocks +
   minorBlockIndex. */
const Connection *THNN_(connectionListBlock)(const ConnectionList *list, int64_t block);

#endif
