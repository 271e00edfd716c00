# shellcheck shell=sh disable=SC2034 # what the others use
# Requests to the API of GitHub or GitLab, for the scripts that source it.
# The token is $GITHUB_TOKEN or $JOBRUN_GITLAB_TOKEN. It goes into a file that
# only we can read, never into a command line or the log.

if [ -n "${GITHUB_ACTIONS:-}" ]; then
	forge=github
	header="Authorization: Bearer ${GITHUB_TOKEN:-}"
	api=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY
elif [ -n "${GITLAB_CI:-}" ]; then
	forge=gitlab
	header="PRIVATE-TOKEN: ${JOBRUN_GITLAB_TOKEN:-}"
	api=$CI_API_V4_URL/projects/$CI_PROJECT_ID
else
	echo "This is neither GitHub Actions nor GitLab CI." >&2
	exit 1
fi

has_token() {
	[ -n "${GITHUB_TOKEN:-}${JOBRUN_GITLAB_TOKEN:-}" ]
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
(umask 077 && printf '%s\n' "$header" "Accept: application/json" \
	>"$folder/headers")

# request METHOD URL [FILE WITH JSON]: prints the answer.
request() {
	method=$1 url=$2
	shift 2
	[ $# -eq 0 ] || set -- -H 'Content-Type: application/json' --data-binary "@$1"
	curl --silent --show-error --fail --retry 3 --max-time 60 \
		-H "@$folder/headers" -X "$method" "$@" "$url"
}

# download URL FILE: also from where the answer sends us on to, which must not
# see the token.
download() {
	there=$(curl --silent --show-error --fail --retry 3 --max-time 60 \
		-H "@$folder/headers" --output "$2" --write-out '%{redirect_url}' "$1")
	[ -z "$there" ] || curl --silent --show-error --fail --retry 3 \
		--max-time 60 --location --output "$2" "$there"
}

# pages URL: the items of a list, one a line, of all pages.
pages() {
	page=1
	while :; do
		request GET "$1$(case $1 in *\?*) echo '&' ;; *) echo '?' ;; esac)per_page=100&page=$page" \
			>"$folder/page"
		jq -c '.[]' "$folder/page"
		[ "$(jq length "$folder/page")" -eq 100 ] || return 0
		page=$((page + 1))
	done
}
