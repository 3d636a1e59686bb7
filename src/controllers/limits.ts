/** Defaults of docs/reference/limits.md, from the constants of this room. `npm run pages` writes them there. */
import { binary, bytes, count, duration, type Limits } from '../apimachinery/limits.ts'
import * as outcome from '../placement/outcome/outcome.ts'
import * as clusterRoleAggregationController from './cluster-role-aggregation/clusterRoleAggregationController.ts'
import * as eventRecorder from './eventRecorder.ts'
import * as syncerConnections from './mailbox/syncerConnections.ts'
import * as conditions from './namespace/conditions.ts'
import * as customize from './placement/copies/customize.ts'
import * as parameterExpansion from './placement/copies/parameterExpansion.ts'
import * as replacementPath from './placement/copies/replacementPath.ts'
import * as replacing from './placement/copies/replacing.ts'
import * as itemSources from './placement/summaries/itemSources.ts'
import * as summaries from './placement/summaries/summaryFollowers.ts'

export const LIMITS: Limits = {
  'finalizers, kinds and failures that a Namespace under deletion reports; finalizers of one object that it looks at': `${count(conditions.MAX_LISTED)}; ${count(conditions.MAX_FINALIZERS)}`,
  'customized object; parameter of a Location': `${bytes(replacing.MAX_OBJECT_BYTES)}; ${binary(parameterExpansion.MAX_PARAMETER_CHARACTERS)} characters`,
  'places that the path of a Customizer finds': count(replacementPath.MAX_PLACES),
  'characters of such a path; work for one object and destination, of which a replacement takes 100 at least': `${binary(replacementPath.MAX_PATH_CHARACTERS)}; ${count(customize.MAX_WORK)}`,
  'Events about trouble, outages and conflicts of one space, and about its SyncTargets, and as many about holds; in which time': `${count(eventRecorder.MAX_OF_SPACE)}; ${duration(eventRecorder.REPEATED_AFTER_MS)}`,
  'a syncer whose connection has ended is silent after; one with a connection that says nothing': `${duration(syncerConnections.SILENCE_MS)}; ${duration(outcome.OUTCOME_SILENCE_MS)}`,
  'parts of clusters in CombinedStatuses that are kept; carried objects of one': `${count(summaries.MAX_READINGS)}; ${count(itemSources.MAX_CARRIED_ITEMS)}`,
  'steps that one aggregated ClusterRole gathers rules in, as it is shown': count(
    clusterRoleAggregationController.MOST_WORK,
  ),
}
