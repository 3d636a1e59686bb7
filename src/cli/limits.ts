/** Limits of this room for docs/reference/limits.md, which `npm run pages` writes. */
import { bytes, count, type Limits } from '../apimachinery/limits.ts'
import * as listWatch from '../client/listWatch.ts'
import * as syncerBootstrap from '../placement/spaces/syncerBootstrap.ts'
import * as clusterLists from '../syncer/sees/clusterLists.ts'
import * as inventoryFile from './kubestellar/inventory/inventoryFile.ts'
import * as syncer from './orrery/syncer/syncer.ts'

export const LIMITS: Limits = {
  objects: {
    'an answer of a cluster to its syncer, watches aside': [
      bytes(syncer.ANSWER_LIMIT_BYTES),
      'the request fails, and is repeated; lists by half as many items',
      'fixed',
    ],
    'objects; bytes of a list that a client reads page by page; bytes of one that a syncer reads': [
      `${count(listWatch.LIST_LIMIT_OBJECTS)}; ${bytes(listWatch.LIST_LIMIT_BYTES)}; ${bytes(clusterLists.LIST_LIMIT_BYTES)}. 100 pages in a row without an object, or the same token twice, are as bad`,
      '`the list of … does not end`: what is known stays, and it is tried again later',
      'fixed',
    ],
  },
  placement: {
    'claims of one SyncTarget; life of a bootstrap credential': [
      `${count(syncerBootstrap.CLAIMS_LIMIT)}; ${count(syncerBootstrap.BOOTSTRAP_MAX_SECONDS / 86_400)} days at most`,
      '`409 Conflict`; `422 Invalid`',
      '`kubectl kubestellar deny`; fixed',
    ],
    'locations in the file of `ensure location -f`; its size': [
      `${count(inventoryFile.ROWS_LIMIT)}; ${bytes(inventoryFile.FILE_LIMIT_BYTES)}`,
      'the command names the bound and makes nothing',
      'several files',
    ],
    'requests of a syncer to its cluster': [
      `1000 a second, ${syncer.IN_FLIGHT} under way`,
      'they wait',
      '`orrery syncer --qps`, `--burst`',
    ],
  },
}
