/** A stand-in in a process for tests with kills. Prints the address once the pull request is open. */
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
