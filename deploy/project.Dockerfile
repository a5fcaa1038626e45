# An image of your project, on top of the image from deploy/Dockerfile. Copy this file into the folder with your
# langgraph.json, package.json and package-lock.json, with a .dockerignore that has `node_modules`, `.git`, `.env` and
# `.holdpoint`: `docker build -t my-agent .`

FROM node:26.10.0-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1 AS dependencies
WORKDIR /app
# A Holdpoint that is not from the registry is a packed file in the folder.
COPY package.json package-lock.json *.tgz ./
RUN npm ci --ignore-scripts --omit=dev

FROM holdpoint
COPY --from=dependencies /app/node_modules /app/node_modules
COPY . /app
