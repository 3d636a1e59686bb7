/** Limits of this room for docs/reference/limits.md, which `npm run pages` writes. */
import { binary, bytes, count, duration, type Limits } from '../apimachinery/limits.ts'
import * as outcome from '../placement/outcome/outcome.ts'
import * as clusterRoleAggregationController from './cluster-role-aggregation/clusterRoleAggregationController.ts'
import * as eventRecorder from './eventRecorder.ts'
import * as syncerConnections from './mailbox/syncerConnections.ts'
import * as conditions from './namespace/conditions.ts'
import * as noticeController from './notices/noticeController.ts'
import * as noticeSinks from './notices/noticeSinks.ts'
import * as customize from './placement/copies/customize.ts'
import * as parameterExpansion from './placement/copies/parameterExpansion.ts'
import * as replacementPath from './placement/copies/replacementPath.ts'
import * as replacing from './placement/copies/replacing.ts'
import * as itemSources from './placement/summaries/itemSources.ts'
import * as summaries from './placement/summaries/summaryFollowers.ts'

export const LIMITS: Limits = {
  objects: {
    'finalizers, kinds and failures that a Namespace under deletion reports; finalizers of one object that it looks at':
      [`${count(conditions.MAX_LISTED)}; ${count(conditions.MAX_FINALIZERS)}`, '`and others`, `and … more`', 'fixed'],
  },
  placement: {
    'customized object; parameter of a Location': [
      `${bytes(replacing.MAX_OBJECT_BYTES)}; ${binary(parameterExpansion.MAX_PARAMETER_CHARACTERS)} characters`,
      '[left undone and reported](../customization.md#customization)',
      'fixed',
    ],
    'places that the path of a Customizer finds': [
      count(replacementPath.MAX_PLACES),
      '[left undone and reported](../customization.md#customization)',
      'a narrower path',
    ],
    "characters of a Customizer's path; work for one object and destination, of which a replacement takes 100 at least":
      [
        `${binary(replacementPath.MAX_PATH_CHARACTERS)}; ${count(customize.MAX_WORK)}`,
        '[left undone and reported](../customization.md#customization)',
        'a shorter path, fewer replacements',
      ],
    'parts of clusters in CombinedStatuses that are kept; carried objects of one': [
      `${count(summaries.MAX_READINGS)}, and ${count(summaries.MAX_UNFOLLOWED_READINGS)} that nobody follows; ${count(itemSources.MAX_CARRIED_ITEMS)}`,
      'others are worked out anew for each answer; the rest is left out, and `isPartial` says so',
      'fixed; narrower upsync sets',
    ],
    'Events about trouble, outages and conflicts of one space, and about its SyncTargets, and as many about holds; in which time':
      [
        `${count(eventRecorder.MAX_OF_SPACE)}; ${duration(eventRecorder.REPEATED_AFTER_MS)}`,
        'only conditions and work statuses report it; outages are reported on EdgePlacements later',
        'fixed',
      ],
    'notices that wait for one NoticeSink': [
      count(noticeSinks.MAX_WAITING),
      'the oldest of them is dropped and counted',
      'fixed',
    ],
    'wait between attempts to deliver a notice; where the receiver asks for more by `Retry-After`': [
      `${duration(noticeController.RETRY.baseMs)} to ${duration(noticeController.RETRY.maxMs)}; ${duration(noticeController.MAX_RETRY_AFTER_MS)}`,
      'it is retried as long as its Event is there',
      'fixed',
    ],
    'notices of a sink that may come again after a crash': [
      count(noticeController.BATCH),
      'their ids are the same',
      'fixed',
    ],
    'time until a syncer without a connection is silent; with a connection that sends nothing': [
      `${duration(syncerConnections.SILENCE_MS)}; ${duration(outcome.OUTCOME_SILENCE_MS)}`,
      'SyncTarget `Ready: False`, reason `SyncerSilent`',
      'fixed',
    ],
  },
  access: {
    'steps that one aggregated ClusterRole gathers rules in, as it is shown': [
      count(clusterRoleAggregationController.MOST_WORK),
      'what is shown stays, and the log says so',
      'fewer selectors, fewer rules',
    ],
  },
}
