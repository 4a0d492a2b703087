/** A stand-in in a process of its own, for tests that kill it. Prints its address once its pull request is open. */
import { startGitHub } from '../../../../infra/local/github/github.ts'

const { directory, gitDirectory, commits, app } = JSON.parse(process.argv[2] ?? '{}')
const github = await startGitHub({ directory, app })
await github.addRepository({ owner: 'acme', name: 'widgets', gitDirectory, defaultBranch: 'main' })
await github.openPullRequest({
  repository: 'acme/widgets',
  base: 'main',
  baseSha: commits[0],
  head: 'feature',
  headSha: commits[1],
  title: 'A change',
  body: null,
  author: { login: 'jun', type: 'User' },
})
console.log(github.url)
