#ifndef THNN_CONNECTION_TABLE_CONNECTION_LIST_H
#define THNN_CONNECTION_TABLE_CONNECTION_LIST_H

#include "connection_table/connection_table.h"

/* The connections of a table, sorted so that connections with common packed data are adjacent. The channels of one
   side, input or output, are major, the channels of the other side minor; both are divided into blocks. Connections
   are sorted by major block, then minor block, major channel and row of the table. */

typedef struct Connection {
  int32_t major, minor, row; /* the two channels; row of the table, relative to the first row of the list */
} Connection;

typedef struct ConnectionList {
  const Connection *entries;
  int64_t count;
  int64_t majorBlock, minorBlock; /* channels per block */
  int64_t minorBlocks;            /* number of minor blocks */
} ConnectionList;

/* Rows of the table that are sorted at a time. The results of a longer table are added up, list by list. */
#define TABLE_ROWS 16384

/* The bytes of a list, at the beginning of the calling thread's scratch memory. */
size_t THNN_(connectionListBytes)(const ConnectionTable *table);

/* Sorts list->count rows from firstRow on into scratch memory of scratchBytes bytes, which includes
   connectionListBytes. */
void THNN_(connectionListSort)(ConnectionList *list, const ConnectionTable *table, int64_t firstRow,
                               int majorColumn, size_t scratchBytes);

/* The first connection of block number `block` or, if it is empty, of a later block. block = majorBlockIndex *
   minorBlocks + minorBlockIndex. */
const Connection *THNN_(connectionListBlock)(const ConnectionList *list, int64_t block);

#endif
